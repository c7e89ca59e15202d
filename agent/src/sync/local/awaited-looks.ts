/** Paths that somebody waits for, until each has been looked at. */
export interface AwaitedPaths {
  /** Those that are still waited for, with the number of the first look at each that counts. */
  readonly open: ReadonlyMap<string, number>;
  /** Resolves when `open` is empty. */
  readonly empty: Promise<void>;
  /** One of them was gone before anything of it was journaled: it may stand under another name, which nobody waits for. */
  readonly hasLost: boolean;
}

class Wait implements AwaitedPaths {
  readonly open: Map<string, number>;
  readonly empty: Promise<void>;
  hasLost = false;
  #resolve = (): void => undefined;

  constructor(paths: Iterable<readonly [path: string, look: number]>) {
    this.open = new Map(paths);
    this.empty = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    if (this.open.size === 0) this.#resolve();
  }

  passed(path: string, look: number): void {
    const first = this.open.get(path);
    if (first === undefined || look < first) return;
    this.open.delete(path);
    if (this.open.size === 0) this.#resolve();
  }
}

/**
 * Who waits for looks at which paths. Looks are numbered in the order in which they begin: one that had begun before a change was
 * noticed may have seen what stood there before it, so it is no answer to whoever asks for what stands there now.
 */
export class AwaitedLooks {
  readonly #waits = new Set<Wait>();

  /** Waits for these paths, each from the look with this number on, until `remove`. */
  add(paths: Iterable<readonly [path: string, look: number]>): AwaitedPaths {
    const wait = new Wait(paths);
    this.#waits.add(wait);
    return wait;
  }

  /** Nobody waits for these any more. */
  remove(awaited: AwaitedPaths): void {
    this.#waits.delete(awaited as Wait);
  }

  /** Nothing stands at `path` any more, and nothing of it was ever journaled. */
  lost(path: string): void {
    for (const wait of this.#waits) if (wait.open.has(path)) wait.hasLost = true;
  }

  /** The look with this number is done with `path`, for all who wait for it or for one of them. */
  passed(path: string, look: number, by?: AwaitedPaths): void {
    for (const wait of this.#waits) if (by === undefined || wait === by) wait.passed(path, look);
  }
}
