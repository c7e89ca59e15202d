/** Paths that a caller waits for until each has been examined by a detection. */
export interface AwaitedPaths {
  /** The paths still waited for, each with the number of the first detection that counts. */
  readonly open: ReadonlyMap<string, number>;
  /** Resolves when `open` is empty. */
  readonly empty: Promise<void>;
  /** One of them was gone before it was journaled: its content may be at another path, which is not waited for. */
  readonly hasLost: boolean;
}

/** A path, and the number of the first detection that counts for it. */
interface NextDetection {
  readonly path: string;
  readonly detection: number;
}

class Wait implements AwaitedPaths {
  readonly open: Map<string, number>;
  readonly empty: Promise<void>;
  hasLost = false;
  #resolve = (): void => undefined;

  constructor(paths: Iterable<readonly [path: string, detection: number]>) {
    this.open = new Map(paths);
    this.empty = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (this.open.size === 0) this.#resolve();
  }

  followed(path: string, detection: number, next: NextDetection): void {
    const first = this.open.get(path);
    if (first !== undefined && detection >= first) this.open.set(next.path, next.detection);
  }

  passed(path: string, detection: number): void {
    const first = this.open.get(path);
    if (first === undefined || detection < first) return;
    this.open.delete(path);
    if (this.open.size === 0) this.#resolve();
  }
}

/**
 * Waits for detections at paths. Detections are numbered in the order in which they begin. One that began before a change was noticed may
 * have seen the entry as it was before. So it does not end a wait for the present entry.
 */
export class PathWaits {
  readonly #waits = new Set<Wait>();

  /** Waits for these paths, each until a detection with its number or a later one, or until `remove`. */
  add(paths: Iterable<readonly [path: string, detection: number]>): AwaitedPaths {
    const wait = new Wait(paths);
    this.#waits.add(wait);
    return wait;
  }

  /** Ends a wait. */
  remove(awaited: AwaitedPaths): void {
    this.#waits.delete(awaited as Wait);
  }

  /** Notes that the entry at `path` is gone and was never journaled. */
  lost(path: string): void {
    for (const wait of this.#waits) if (wait.open.has(path)) wait.hasLost = true;
  }

  /**
   * Notes that the entry which this detection found at `path` is journaled only by a later one, at `next`: all waits for `path`, except
   * `not`, wait for that too. Call it before `passed`.
   */
  followed(path: string, detection: number, next: NextDetection, not?: AwaitedPaths): void {
    for (const wait of this.#waits) if (wait !== not) wait.followed(path, detection, next);
  }

  /** Notes that the detection with this number is done with `path`: for all waits, or only for `by`. */
  passed(path: string, detection: number, by?: AwaitedPaths): void {
    for (const wait of this.#waits) if (by === undefined || wait === by) wait.passed(path, detection);
  }
}
