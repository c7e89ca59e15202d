import type { Clock, Timer } from '../ports/clock.ts';

/** One timer for many requested times: it rings at the earliest of them and drops the others. */
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

  /** Rings at most this many milliseconds from now. */
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
