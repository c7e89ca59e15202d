import type { Applied, Dot, OriginId, SeqRange, VersionVector } from '@lockstep/shared';
import { SeqRangeLog } from './seq-range-log.ts';

const nothing: Applied = { vector: {}, ranges: {} };

/**
 * The times at which this member learned that another member has an operation. The first acknowledgement gives no times: the operations in
 * it are of unknown age. Each later one gives its time to the operations that it covers and its predecessor did not.
 */
export class AckTimes {
  readonly #ranges: SeqRangeLog;
  #last: Applied | undefined;

  constructor(rangesMax: number) {
    this.#ranges = new SeqRangeLog(rangesMax);
  }

  /** Takes an acknowledgement that came at `atMs`. */
  note(applied: Applied, atMs: number): void {
    const before = this.#last;
    this.#last = applied;
    if (before === undefined || before === applied) return;
    for (const origin of originsOf(applied)) {
      if (isRepeated(before, applied, origin)) continue;
      for (const [from, to] of newlyCovered(coverOf(before, origin), coverOf(applied, origin))) {
        this.#ranges.add(origin, from, to, atMs);
      }
    }
  }

  /** The same for a vector without ranges. */
  noteVector(vector: VersionVector, atMs: number): void {
    this.note({ ...nothing, vector }, atMs);
  }

  /** The time at which this member learned of it, in milliseconds; undefined if it is unknown or was dropped. */
  at(dot: Dot): number | undefined {
    return this.#ranges.at(dot);
  }
}

function originsOf({ vector, ranges }: Applied): Set<OriginId> {
  return new Set([...Object.keys(vector), ...Object.keys(ranges)] as OriginId[]);
}

/** True if both cover the same, and no ranges. With many members nearly all that an acknowledgement says of an origin was said before. */
function isRepeated(before: Applied, applied: Applied, origin: OriginId): boolean {
  if (before.vector[origin] !== applied.vector[origin]) return false;
  return before.ranges[origin] === undefined && applied.ranges[origin] === undefined;
}

/** The ranges of one origin that are covered, ascending. */
function coverOf({ vector, ranges }: Applied, origin: OriginId): readonly SeqRange[] {
  const upTo = vector[origin] ?? 0;
  const own = ranges[origin] ?? [];
  return upTo > 0 ? [[1, upTo], ...own] : own;
}

/** The parts of `after` that lie outside of `before`; both ascending. */
function newlyCovered(before: readonly SeqRange[], after: readonly SeqRange[]): SeqRange[] {
  const news: SeqRange[] = [];
  let index = 0;
  for (const [from, to] of after) {
    let next = from;
    while (next <= to) {
      while ((before[index]?.[1] ?? Number.POSITIVE_INFINITY) < next) index++;
      const [oldFrom, oldTo] = before[index] ?? [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
      if (oldFrom > next) news.push([next, Math.min(to, oldFrom - 1)]);
      next = oldTo + 1;
    }
  }
  return news;
}
