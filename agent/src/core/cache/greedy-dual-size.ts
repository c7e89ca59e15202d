/** The properties of a file that decide its worth to a cache: the time to fetch it again, in milliseconds, and its size, in bytes. */
export interface CachedFile {
  readonly costMs: number;
  readonly size: number;
}

/** Below every credit of a file that was used, and of one of which no use is known. */
const unreadCredit = -1;

/**
 * Decides which file a full cache drops: the one with the least credit. A file that is used gets the credit L + cost / size, where L is the
 * highest credit at which a file was dropped. So a small file and one that is slow to fetch stay for longer, and one that is not used ages as
 * L grows. (Greedy-Dual-Size: Cao and Irani, "Cost-Aware WWW Proxy Caching Algorithms", USITS 1997.) A file of which no use is known has no
 * credit, and goes before those; a prefetched file that was not used yet goes first of all.
 */
export class GreedyDualSize {
  readonly #credits = new Map<string, number>();
  #inflation = 0;

  /** The file at `path` was used. */
  used(path: string, { costMs, size }: CachedFile): void {
    this.#credits.set(path, this.#inflation + costMs / Math.max(1, size));
  }

  /** The file at `path` was prefetched. */
  prefetched(path: string): void {
    this.#credits.set(path, unreadCredit);
  }

  /** Restores the credit of the file at `path`, and the inflation at its last use, from an earlier run. */
  restore(path: string, { credit, inflation }: { readonly credit: number; readonly inflation: number }): void {
    this.#credits.set(path, credit);
    this.#inflation = Math.max(this.#inflation, inflation);
  }

  /** The highest credit at which a file was dropped. */
  get inflation(): number {
    return this.#inflation;
  }

  /** The credit of the file at `path`. */
  credit(path: string): number {
    return this.#credits.get(path) ?? 0;
  }

  /** The file at `path` was dropped to make room. */
  dropped(path: string): void {
    this.#inflation = Math.max(this.#inflation, this.credit(path));
    this.#credits.delete(path);
  }

  /** Forgets all files for which `isThere` returns false: they were deleted or renamed. */
  keepOnly(isThere: (path: string) => boolean): void {
    for (const path of this.#credits.keys()) if (!isThere(path)) this.#credits.delete(path);
  }
}
