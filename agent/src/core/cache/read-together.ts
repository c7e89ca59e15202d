import { LRUCache } from 'lru-cache';

/** Files that are read within this time belong together: a program that opens a project or an album reads its files within a moment. */
const togetherMsMax = 2_000;
/** The last files read, each of which the next one follows: one program rarely reads more within the time. */
const recentMax = 8;
/** Bounds the memory: 2,000 files with 16 others each, some megabytes of paths. */
const pathsMax = 2_000;
const followersMax = 16;

/** Counts how often a file was read shortly after another one. */
export class ReadTogether {
  readonly #followers = new LRUCache<string, Map<string, number>>({ max: pathsMax });
  #recent: readonly { readonly path: string; readonly atMs: number }[] = [];

  /** The file at `path` was read. */
  read(path: string, nowMs: number): void {
    const before = this.#recent.filter((one) => one.path !== path && nowMs - one.atMs <= togetherMsMax);
    for (const one of before) this.#count(one.path, path);
    this.#recent = [...before, { path, atMs: nowMs }].slice(-recentMax);
  }

  /** The files that were read shortly after the one at `path`, the most frequent first. */
  after(path: string): readonly string[] {
    const counts = this.#followers.get(path) ?? new Map<string, number>();
    return [...counts].sort(([, a], [, b]) => b - a).map(([follower]) => follower);
  }

  #count(path: string, follower: string): void {
    const counts = this.#followers.get(path) ?? new Map<string, number>();
    counts.set(follower, (counts.get(follower) ?? 0) + 1);
    if (counts.size > followersMax) counts.delete(rarest(counts, follower));
    this.#followers.set(path, counts);
  }
}

/** The path with the lowest count, the oldest of several; never `kept`, which could otherwise not become frequent. */
function rarest(counts: ReadonlyMap<string, number>, kept: string): string {
  let least = { path: '', count: Number.POSITIVE_INFINITY };
  for (const [path, count] of counts) if (path !== kept && count < least.count) least = { path, count };
  return least.path;
}
