import { type ContentId, dotKey, isLive, type Operation, type ProblemCode, problemsMax } from '@lockstep/shared';
import type { Context } from '../state/context.ts';

/** A missing content is reported after this time: a file that is overwritten continuously is journaled once it rests for a moment. */
const overwrittenMsMax = 5_000;
/** Longest delay of the report while others know more operations and keep making them. */
const keptBackMsMax = 30_000;

/** The contents that are not here. */
interface Contents {
  /** True while some connected member knows operations that this one does not know yet. */
  mayLearnMore(): boolean;
  /** True while the member that was asked for the content says that it sends. */
  isBeingSent(operation: Operation): boolean;
}

interface KeptBack {
  readonly head: Operation;
  readonly detail: string;
  readonly sinceMs: number;
}

/** Problems of applying paths. Each ends once its operation no longer has to be applied. */
export class PathProblems {
  readonly #context: Context;
  readonly #contents: Contents;
  /** The operation that the problem of a path is about, also if the problem is only counted. Those examined last come last. */
  readonly #reported = new Map<string, { readonly head: Operation; readonly code: ProblemCode }>();
  /** Paths whose content is missing, not reported yet: it may turn out that it is not needed either. */
  readonly #keptBack = new Map<string, KeptBack>();

  constructor(context: Context, contents: Contents) {
    this.#context = context;
    this.#contents = contents;
  }

  /** Reports a problem of applying `head` at `path`; a missing content only after a delay. */
  report(path: string, head: Operation, code: ProblemCode, detail: string): void {
    const { problems } = this.#context;
    if (code === 'folder-missing' || code === 'state-unusable') {
      // The folder as a whole is one problem, not one for each path.
      problems.set(code, {}, detail);
      return;
    }
    // The mount point has the problem, not each path below it.
    if (code === 'mount-changed') return;
    if (code === 'content-missing' && this.#keepBack(path, head, detail)) return;
    this.#note(path, head, code, detail);
  }

  #note(path: string, head: Operation, code: ProblemCode, detail: string): void {
    const { problems } = this.#context;
    const before = this.#reported.get(path);
    if (before !== undefined && before.code !== code) this.#clear(path, before.code);
    problems.setOfApplying(code, path, detail);
    if (code === 'content-missing') this.#context.missing.report(head);
    if (problems.isKnown(code, path)) this.#reported.set(path, { head, code });
  }

  #clear(path: string, code: ProblemCode): void {
    const { problems, facts } = this.#context;
    problems.clear(code, { path });
    // A special file may have been in the way: it is reported as such now.
    if (code === 'path-in-the-way') facts.doubted.publish(path);
  }

  /** Withdraws the report that this content of the path is missing: a block of it has come. */
  arrives(path: string, content: ContentId): void {
    if (this.#keptBack.get(path)?.head.content === content) this.#keptBack.delete(path);
    const reported = this.#reported.get(path);
    if (reported?.code !== 'content-missing' || reported.head.content !== content) return;
    this.#reported.delete(path);
    this.#context.missing.withdraw(reported.head);
    this.#context.problems.clear('content-missing', { path });
  }

  /** Withdraws the problems of the path: its head was applied. */
  over(path: string): void {
    this.#keptBack.delete(path);
    this.#reported.delete(path);
    this.#context.problems.clearPath(path);
  }

  /**
   * Withdraws problems of operations that no longer have to be applied: other members or a user replaced or deleted them. Looks at as many as
   * are shown: if more are counted, the next call goes on.
   */
  withdraw(): void {
    const { problems, missing, journal } = this.#context;
    this.#tellKeptBack();
    missing.keepOnly((operation) => journal.heads.has(operation));
    for (const [path, reported] of [...this.#reported].slice(0, problemsMax)) {
      const { head, code } = reported;
      this.#reported.delete(path);
      if (this.#isPending(path, dotKey(head)) || this.#isAwaited(path, code)) this.#reported.set(path, reported);
      else this.#clear(path, code);
    }
    for (const { code, path, member } of problems.list()) {
      // The problem may be about any operation of the path: the visible one, or a losing one that must be kept.
      if (code === 'content-corrupt' && path !== undefined && !this.#isOpen(path))
        problems.clear(code, { path, member });
    }
  }

  /**
   * Delays the report of a missing content; false if it must be reported now. The file may have been renamed or replaced: by an operation
   * that is still on its way, or by a user whose member has yet to journal it.
   */
  #keepBack(path: string, head: Operation, detail: string): boolean {
    const known = this.#keptBack.get(path);
    const isSame = known !== undefined && dotKey(known.head) === dotKey(head);
    const kept = { head, detail, sinceMs: isSame ? known.sinceMs : this.#context.clock.monotonicMs() };
    if (!this.#isTooEarly(kept)) return false;
    this.#keptBack.set(path, kept);
    return true;
  }

  #isTooEarly({ sinceMs }: KeptBack): boolean {
    const keptMs = this.#context.clock.monotonicMs() - sinceMs;
    return keptMs < overwrittenMsMax || (keptMs < keptBackMsMax && this.#contents.mayLearnMore());
  }

  #tellKeptBack(): void {
    for (const [path, kept] of this.#keptBack) {
      const isPending = this.#isPending(path, dotKey(kept.head));
      if (isPending && (this.#isTooEarly(kept) || this.#contents.isBeingSent(kept.head))) continue;
      this.#keptBack.delete(path);
      if (isPending) this.#note(path, kept.head, 'content-missing', kept.detail);
    }
  }

  #isPending(path: string, wanted?: string): boolean {
    const { journal } = this.#context;
    const [head] = journal.heads.at(path);
    if (head === undefined || (wanted !== undefined && dotKey(head) !== wanted)) return false;
    const row = journal.disk.at(path);
    if (row !== undefined && !row.damaged && dotKey(row.dot) === dotKey(head)) return false;
    return isLive(head) || row?.fingerprint !== undefined;
  }

  /** A remote file is not pending, but a reader may wait for it. A missing content is the answer to the reader, not a problem. */
  #isAwaited(path: string, code: ProblemCode): boolean {
    const { journal, wanted } = this.#context;
    return code !== 'content-missing' && wanted.isDemanded(path) && journal.disk.at(path)?.remote === true;
  }

  #isOpen(path: string): boolean {
    return this.#isPending(path) || this.#context.journal.heads.at(path).length > 1;
  }
}
