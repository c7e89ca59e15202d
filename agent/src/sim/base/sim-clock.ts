import { minutesPerDay } from '../../core/traffic/rate-rules.ts';
import type { Clock, Timer } from '../../sync/ports/clock.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** The start of simulated time: milliseconds since the epoch. */
export const worldBeganMs = Date.UTC(2026, 10, 21, 6, 56);

/** A machine's wall clock. Its error may jump. It outlives the agent. */
export class WallClock {
  /** The time that the present system calls have taken so far. */
  aheadMs = 0;
  readonly #scheduler: Scheduler;
  readonly #stepsMs: number[] = [];
  #offsetMs: number;

  constructor(scheduler: Scheduler, offsetMs: number) {
    this.#scheduler = scheduler;
    this.#offsetMs = offsetMs;
  }

  /** With fractions, for file times. */
  preciseMs(): number {
    return worldBeganMs + this.#offsetMs + this.#scheduler.nowMs + this.aheadMs;
  }

  step(byMs: number): void {
    this.#offsetMs += byMs;
    this.#stepsMs.push(byMs);
  }

  /** Earlier times do not show then that the clock was set. */
  get wasSetBothWays(): boolean {
    return this.#stepsMs.some((byMs) => byMs > 0) && this.#stepsMs.some((byMs) => byMs < 0);
  }
}

/** The clock port of one life of an agent. */
export class SimClock implements Clock {
  readonly #scheduler: Scheduler;
  readonly #wall: WallClock;
  readonly #random: Random;
  readonly #life: Life;

  constructor(options: { scheduler: Scheduler; wall: WallClock; random: Random; life: Life }) {
    this.#scheduler = options.scheduler;
    this.#wall = options.wall;
    this.#random = options.random;
    this.#life = options.life;
  }

  wallMs(): number {
    return Math.floor(this.#wall.preciseMs());
  }

  monotonicMs(): number {
    return this.#scheduler.nowMs;
  }

  /** Simulated machines are in UTC. */
  localMinute(): number {
    return Math.floor(this.wallMs() / 60_000) % minutesPerDay;
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#scheduler.after(delayMs, run, this.#life);
  }

  random(): number {
    return this.#random.unit();
  }
}
