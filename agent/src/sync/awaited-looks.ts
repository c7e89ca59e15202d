/** Paths that somebody waits for, until each has been looked at. */
export interface AwaitedPaths {
  /** Those that are still waited for, with the number of the first look at each that counts. */
  readonly open: ReadonlyMap<string, number>;
  /** Resolves when `open` is empty. */
  readonly empty: Promise<void>;
  /** One of them was gone before anything of it was journaled: it may stand under another name, which nobody waits for. */
  readonly hasLost: boolean;
}

/**
 * Who waits for looks at which paths. Looks are numbered in the order in which they begin: one that had begun before a change was
 * noticed may have seen what stood there before it, so it is no answer to whoever asks for what stands there now.
 */
export class AwaitedLooks {
  readonly #waits = new Map<
    AwaitedPaths,
    { readonly open: Map<string, number>; readonly lost: () => void; readonly resolve: () => void }
  >();

  /** Waits for these paths, each from the look with this number on. */
  add(paths: Iterable<readonly [path: string, look: number]>): AwaitedPaths {
    const open = new Map(paths);
    let resolve = (): void => undefined;
    const empty = new Promise<void>((done) => {
      resolve = done;
    });
    const awaited = { open, empty, hasLost: false };
    const lost = (): void => {
      awaited.hasLost = true;
    };
    if (open.size === 0) resolve();
    else this.#waits.set(awaited, { open, lost, resolve });
    return awaited;
  }

  /** Nobody waits for these any more. */
  remove(awaited: AwaitedPaths): void {
    this.#waits.delete(awaited);
  }

  /** Nothing stands at `path` any more, and nothing of it was ever journaled. */
  lost(path: string): void {
    for (const { open, lost } of this.#waits.values()) if (open.has(path)) lost();
  }

  /** The look with this number is done with `path`, for all who wait for it or for one of them. */
  passed(path: string, look: number, by?: AwaitedPaths): void {
    for (const [awaited, { open, resolve }] of this.#waits) {
      if (by !== undefined && awaited !== by) continue;
      const first = open.get(path);
      if (first === undefined || look < first) continue;
      open.delete(path);
      if (open.size > 0) continue;
      this.#waits.delete(awaited);
      resolve();
    }
  }
}
