import type { Clock, Timer } from '../ports/clock.ts';

/** Node timers are limited to 24 days; a longer one would fire at once. */
const timerMsMax = 24 * 86_400_000;

/** Runs a task at intervals, from `start` to `stop`. */
export class Interval {
  readonly #clock: Clock;
  readonly #run: () => void;
  #everyMs: number;
  #timer: Timer | undefined;

  constructor(clock: Clock, everyMs: number, run: () => void) {
    this.#clock = clock;
    this.#everyMs = everyMs;
    this.#run = run;
  }

  start(): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(Math.min(this.#everyMs, timerMsMax), () => {
      this.#run();
      if (this.#timer !== undefined) this.start();
    });
  }

  /** Puts another length in force. The present interval begins again. */
  every(everyMs: number): void {
    if (everyMs === this.#everyMs) return;
    this.#everyMs = everyMs;
    if (this.#timer !== undefined) this.start();
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }
}
