import { RateMeter, stalledAfterMs } from './rate-meter.ts';

/** The least time over which a rate is measured before it is given. */
const observedMsMin = 5_000;

/** The progress of a member at one moment. */
export interface ProgressSample {
  /** Bytes of the newest contents that are in place or staged, or came of a block that is not complete. */
  readonly thereBytes: number;
  /** Bytes of the contents that the member itself journaled since the start: they did not arrive. */
  readonly ownBytes: number;
}

/** The rate at which the bytes that a member lacks arrive, from one sample a second. Times are those of a monotonic clock. */
export class ProgressRate {
  #meter = new RateMeter();
  #sinceMs: number | undefined;
  #last: ProgressSample | undefined;

  /** Notes the present progress. */
  note(sample: ProgressSample, nowMs: number): void {
    const { thereBytes, ownBytes } = this.#last ?? sample;
    this.#last = sample;
    this.#sinceMs ??= nowMs;
    // Deletes and new versions also make it fewer: only what was gained arrived.
    this.#meter.add(Math.max(0, sample.thereBytes - thereBytes - (sample.ownBytes - ownBytes)), nowMs);
  }

  /** Notes that nothing is missing: the next rate counts from the next sample on. */
  rest(): void {
    this.#meter = new RateMeter();
    this.#sinceMs = undefined;
    this.#last = undefined;
  }

  /** Bytes per second. 0 if the progress has stalled, undefined while it is not known yet. */
  perSecond(nowMs: number): number | undefined {
    if (this.#sinceMs === undefined || nowMs - this.#sinceMs < observedMsMin) return undefined;
    const rate = this.#meter.pace(nowMs, this.#sinceMs);
    return rate === 0 && nowMs - this.#sinceMs < stalledAfterMs ? undefined : rate;
  }
}
