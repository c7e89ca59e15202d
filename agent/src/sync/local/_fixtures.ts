import type { Clock, Timer } from '../ports/clock.ts';

/** The clock of the member, on which each look at the time takes a while. */
export class SlowClock implements Clock {
  turns = 0;
  readonly #clock: Clock;
  readonly #lookMs: number;
  #spentMs = 0;

  constructor(clock: Clock, lookMs: number) {
    this.#clock = clock;
    this.#lookMs = lookMs;
  }

  wallMs(): number {
    return this.#clock.wallMs();
  }
  monotonicMs(): number {
    this.#spentMs += this.#lookMs;
    return this.#clock.monotonicMs() + this.#spentMs;
  }
  localMinute(): number {
    return this.#clock.localMinute();
  }
  after(delayMs: number, run: () => void): Timer {
    this.turns++;
    return this.#clock.after(delayMs, run);
  }
  random(): number {
    return this.#clock.random();
  }
}
