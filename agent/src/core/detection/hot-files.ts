import { hotFileMs, hotFilesMax } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';

/**
 * The files that are most likely to change without an event. They changed lately, are mapped by a program, or have more than one name. Each
 * kind is bounded; the newest stay. Times in milliseconds of a monotonic clock.
 */
export class HotFiles {
  readonly #changed = new LRUCache<string, number>({ max: hotFilesMax });
  readonly #linked = new Set<string>();
  #mapped: readonly string[] = [];
  #offset = 0;

  /** Notes that a user changed the file. */
  changed(path: string, nowMs: number): void {
    this.#changed.set(path, nowMs);
  }

  /** Replaces the list of files that programs have mapped. */
  mapped(paths: readonly string[]): void {
    this.#mapped = paths.slice(0, hotFilesMax);
  }

  /** Notes which of the polled files `paths` have more than one name. */
  polled(paths: Iterable<string>, linked: readonly string[]): void {
    for (const path of paths) this.#linked.delete(path);
    for (const path of linked) if (this.#linked.size < hotFilesMax) this.#linked.add(path);
  }

  /** Up to `limit` hot files, round robin. */
  next(nowMs: number, limit: number): readonly string[] {
    this.#changed.rforEach((atMs, path) => {
      if (nowMs - atMs >= hotFileMs) this.#changed.delete(path);
    });
    const all = [...new Set([...this.#mapped, ...this.#linked, ...this.#changed.rkeys()])];
    if (all.length <= limit) return all;
    const from = this.#offset % all.length;
    this.#offset = from + limit;
    return [...all.slice(from, from + limit), ...all.slice(0, Math.max(0, from + limit - all.length))];
  }
}
