import type { Clock } from '../ports/clock.ts';

/** A loop that runs this long without yielding delays heartbeats and answers by as much. */
const turnMsMax = 10;
/** A rest shorter than this is not worth a timer. */
const restMsMin = 20;
const restMsMax = 5_000;

/**
 * Limits a loop that repeatedly visits all open items, so that it does not delay the others. It yields between its steps.
 * After a pass it rests for as long as the pass spent on items that were not ready: at most half of the time is wasted.
 */
export class Yielder {
  readonly #clock: Clock;
  #turnBeganMs: number;
  #wastedMs = 0;
  #restUntilMs = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#turnBeganMs = clock.monotonicMs();
  }

  /** Lets other due tasks run, if the loop has run long enough. Call it between any two steps. */
  async maybeYield(): Promise<void> {
    if (this.#clock.monotonicMs() - this.#turnBeganMs < turnMsMax) return;
    await new Promise<void>((resolve) => this.#clock.after(0, resolve));
    this.#turnBeganMs = this.#clock.monotonicMs();
  }

  /** Counts a step that began at `sinceMs` of the monotonic clock as wasted. */
  wasted(sinceMs: number): void {
    this.#wastedMs += this.#clock.monotonicMs() - sinceMs;
  }

  /** Ends a pass: all items have been visited. */
  passed(): void {
    if (this.#wastedMs >= restMsMin)
      this.#restUntilMs = this.#clock.monotonicMs() + Math.min(restMsMax, this.#wastedMs);
    this.#wastedMs = 0;
  }

  /** Milliseconds to wait before the next pass; 0 for none. */
  get restMs(): number {
    return Math.max(0, this.#restUntilMs - this.#clock.monotonicMs());
  }
}
