import { throughputHistoryMs, throughputSampleMs } from '@lockstep/shared/api';

const samplesMax = throughputHistoryMs / throughputSampleMs;

/** Counters that only grow while the agent runs. */
export interface ThroughputTotals {
  /** Operations in the journal. */
  readonly operations: number;
  /** File contents received from all members, and sent to them. */
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** The growth of the counters in one interval. */
export interface ThroughputSample extends ThroughputTotals {
  /** The end of the interval, on the monotonic clock. */
  readonly atMs: number;
}

/** The throughput of a member in the last minutes. In memory only: a chart is not worth a write to the disk. */
export class ThroughputHistory {
  readonly #samples: ThroughputSample[] = [];
  #last: ThroughputSample | undefined;

  /** Oldest first. */
  get samples(): readonly ThroughputSample[] {
    return this.#samples;
  }

  /** Notes the counters. Takes a sample if one is due; an interval in which the agent stalled is longer than the others. */
  note(nowMs: number, totals: ThroughputTotals): void {
    const last = this.#last;
    if (last !== undefined && nowMs - last.atMs < throughputSampleMs) return;
    this.#last = { atMs: nowMs, ...totals };
    if (last === undefined) return;
    this.#samples.push({
      atMs: nowMs,
      operations: grown(last.operations, totals.operations),
      receivedBytes: grown(last.receivedBytes, totals.receivedBytes),
      sentBytes: grown(last.sentBytes, totals.sentBytes),
    });
    if (this.#samples.length > samplesMax) this.#samples.shift();
  }
}

/** A member that was forgotten takes its bytes with it. */
function grown(before: number, now: number): number {
  return Math.max(0, now - before);
}
