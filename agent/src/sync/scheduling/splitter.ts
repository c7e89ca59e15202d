import type { Clock } from '../ports/clock.ts';

/** Splits what is too much for one transaction, so that heartbeats and answers are not delayed by it. */
export class Splitter {
  readonly #clock: Clock;
  readonly #most: number;

  /** `most`: the number of items in a part. */
  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  /** True if so many items are more than one part. */
  isLarge(count: number): boolean {
    return count > this.#most;
  }

  /**
   * Yields the items in parts, in their order, and lets other due tasks run between two parts. Without items, one empty part.
   * `belongTogether`: whether an item must be in the same part as the one before it.
   */
  async *split<T>(
    items: readonly T[],
    belongTogether: (before: T, item: T) => boolean = () => false,
  ): AsyncIterableIterator<readonly T[]> {
    let part: T[] = [];
    for (const item of items) {
      const before = part.at(-1);
      if (part.length >= this.#most && before !== undefined && !belongTogether(before, item)) {
        yield part;
        part = [];
        await new Promise<void>((resolve) => void this.#clock.after(0, resolve));
      }
      part.push(item);
    }
    yield part;
  }
}
