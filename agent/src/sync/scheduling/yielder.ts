import type { Clock } from '../ports/clock.ts';

/** A loop that goes on for this long without a pause delays heartbeats and answers by as much. */
const turnMsMax = 10;
/** A rest shorter than this is not worth a timer. */
const restMsMin = 20;
const restMsMax = 5_000;

/**
 * Keeps a loop that goes over everything open, again and again, from holding up all others: it gives way between its steps, and
 * rests for as long as it looked in vain at what was not ready. So at most half of the time goes into looking in vain.
 */
export class Pace {
  readonly #clock: Clock;
  #turnBeganMs: number;
  #wastedMs = 0;
  #restUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turnBeganMs = clock.monotonicMs();
  }

  /** Lets whatever else is due run, when that has had to wait for long enough. To be called between any two steps. */
  async giveWay(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#turnBeganMs < turnMsMax) return;
    await new Promise<void>((resolve) => this.#clock.after(0, resolve));
    this.#turnBeganMs = this.#clock.monotonicMs();
  }

  /** A step that began at `sinceMs` of the monotonic clock led to nothing. */
  wasted(sinceMs: number): void {
    this.#wastedMs += this.#clock.monotonicMs() - sinceMs;
  }

  /** Everything has been gone over. */
  passed(): void {
    if (this.#wastedMs >= restMsMin)
      this.#restUntilMs = this.#clock.monotonicMs() + Math.min(restMsMax, this.#wastedMs);
    this.#wastedMs = 0;
  }

  /** How long to wait before going over everything again; 0 for not at all. */
  get restMs(): number {
    return Math.max(0, this.#restUntilMs - this.#clock.monotonicMs());
  }
}
