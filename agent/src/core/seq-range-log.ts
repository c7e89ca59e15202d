import type { Dot, OriginId } from '@lockstep/shared';

interface Range {
  readonly origin: OriginId;
  readonly from: number;
  readonly to: number;
  readonly atMs: number;
}

/** The times at which an event happened to ranges of operations. Only the newest ranges are kept, which bounds the memory. */
export class SeqRangeLog {
  readonly #rangesMax: number;
  readonly #ranges: Range[] = [];
  /** The place of the next range once all places are taken. */
  #oldest = 0;

  constructor(rangesMax: number) {
    this.#rangesMax = rangesMax;
  }

  /** Adds the event for the operations `from` to `to` of `origin`. */
  add(origin: OriginId, from: number, to: number, atMs: number): void {
    const range = { origin, from, to, atMs };
    if (this.#ranges.length < this.#rangesMax) {
      this.#ranges.push(range);
      return;
    }
    this.#ranges[this.#oldest] = range;
    this.#oldest = (this.#oldest + 1) % this.#rangesMax;
  }

  /** Adds the event for these operations: neighbours of one origin make one range. */
  addAll(dots: readonly Dot[], atMs: number): void {
    let first = dots[0];
    let last = first;
    for (const dot of dots) {
      if (first !== undefined && last !== undefined && (dot.origin !== first.origin || dot.seq > last.seq + 1)) {
        this.add(first.origin, first.seq, last.seq, atMs);
        first = dot;
      }
      last = dot;
    }
    if (first !== undefined && last !== undefined) this.add(first.origin, first.seq, last.seq, atMs);
  }

  /**
   * The time of the first event for this operation that is still kept. A person asks for one operation at a time, so a linear search is
   * cheap enough.
   */
  at({ origin, seq }: Dot): number | undefined {
    const times = this.#ranges
      .filter((range) => range.origin === origin && range.from <= seq && seq <= range.to)
      .map(({ atMs }) => atMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }
}
