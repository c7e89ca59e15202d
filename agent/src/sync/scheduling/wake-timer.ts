import type { Clock, Timer } from '../ports/clock.ts';

/** One timer for many moments: it rings at the earliest of them, and is then without one until it is set again. */
export class WakeTimer {
  readonly #clock: Clock;
  readonly #ring: () => void;
  #atMs: number | undefined;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  /** Rings no later than this long from now. */
  in(delayMs: number): void {
    const atMs = this.#clock.monotonicMs() + delayMs;
    if (this.#stopped || (this.#atMs !== undefined && this.#atMs <= atMs)) return;
    this.#timer?.cancel();
    this.#atMs = atMs;
    this.#timer = this.#clock.after(delayMs, () => {
      this.#atMs = undefined;
      this.#ring();
    });
  }
}
