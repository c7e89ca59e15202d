import type { DirtyPath } from '../../core/detection/settle.ts';
import type { Problems } from '../state/problems.ts';

const problemRetryMs = 2_000;
/** A join of siblings may make the operation acceptable. Without changes, a comparison this often costs next to nothing. */
const refusedRetryMs = 10_000;

/** A path that is examined again later. `isLarge`: its large file may not be read yet. */
interface Deferred {
  readonly unsettled: DirtyPath;
  readonly dueMs: number;
  readonly isLarge?: true;
}

/** A settled path whose entry is journaled only once `next` was examined: the same path again, or another one. */
interface Followed {
  readonly path: string;
  readonly next: string;
}

/** The result of a detection for a batch of paths, except for the operations that it journaled. */
export interface Detection {
  /** Paths that need nothing more now. */
  readonly settled: readonly string[];
  readonly published: readonly string[];
  readonly deferred: readonly Deferred[];
  /** Those of the deferred paths that have a reported problem of their own. */
  readonly withProblem: readonly string[];
  /** Those of the deferred paths whose entry could not be read, and may be one that is missing elsewhere: deletes wait for them. */
  readonly unread: ReadonlySet<string>;
  /** Large files that may be hashed now. */
  readonly large: readonly DirtyPath[];
  /** Paths whose entry was gone before it was journaled: removed, or moved to another name. */
  readonly lost: readonly string[];
  /** Directories that are new here: to be watched, and scanned for their entries. */
  readonly scan: readonly string[];
  /** Other paths that must be examined. */
  readonly mark: readonly string[];
  /** Paths of the same: each `next` must be examined, and a wait for `path` goes on until it was. */
  readonly followed: readonly Followed[];
  /** An entry is missing, and its delete waits until all names that appeared before have been examined. */
  readonly vanished: boolean;
  /** The folder is missing, so that no entry was seen. */
  readonly lostSight: boolean;
}

/** Gathers the result of a detection under way. */
export class DetectionBuilder implements Detection {
  readonly settled: string[] = [];
  readonly published: string[] = [];
  readonly deferred: Deferred[] = [];
  readonly withProblem: string[] = [];
  readonly unread = new Set<string>();
  readonly large: DirtyPath[] = [];
  readonly lost: string[] = [];
  readonly scan: string[] = [];
  readonly mark: string[] = [];
  readonly followed: Followed[] = [];
  vanished = false;
  lostSight = false;
  readonly #problems: Problems;
  /** The time of the detection. */
  readonly nowMs: number;

  constructor(problems: Problems, nowMs: number) {
    this.#problems = problems;
    this.nowMs = nowMs;
  }

  /** Defers a path whose operation was refused: it is compared again, because the heads may have changed by then. */
  refuse(path: string): void {
    const { settled } = this;
    if (settled.includes(path)) settled.splice(settled.indexOf(path), 1);
    this.putOff(path, refusedRetryMs);
  }

  /** Defers a path that has a problem. Its rest counts from now: counted from its last change, each event would double it. */
  retryProblem(unsettled: DirtyPath): void {
    this.defer({ ...unsettled, lastMs: this.nowMs }, problemRetryMs);
  }

  /** Defers a path that has a problem of its own: it is compared again later. */
  putOff(path: string, forMs = problemRetryMs): void {
    this.defer({ path, firstMs: this.nowMs, lastMs: this.nowMs, dueMs: this.nowMs }, forMs);
    this.withProblem.push(path);
  }

  /** The path is examined again after this time. */
  defer(unsettled: DirtyPath, forMs: number): void {
    this.deferred.push({ unsettled, dueMs: this.nowMs + forMs });
  }

  /** The path needs nothing more now, and has no problem. */
  settle(path: string): void {
    this.settled.push(path);
    this.#problems.clearObserved(path);
  }
}
