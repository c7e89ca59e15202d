import type { Clock, Timer } from '../ports/clock.ts';

export interface TaskLoopOptions {
  readonly clock: Clock;
  /** The task: does all that can be done now. It is never run twice at a time. */
  readonly run: () => Promise<void> | void;
  /** How long after a poke the task begins, in milliseconds. Without it, it begins within the call. */
  readonly delayMs?: (() => number) | undefined;
  /** The task failed. It is run again after `retryMs`. */
  readonly failed: (error: unknown) => void;
  readonly retryMs: number;
}

/** Runs a task whenever there is something to do: one run at a time, and one more after a run during which there was a poke. */
export class TaskLoop {
  readonly #options: TaskLoopOptions;
  #isRunning = false;
  #ended: Promise<void> = Promise.resolve();
  #again = false;
  #timer: Timer | undefined;
  #dueMs = 0;
  #stopped = false;

  constructor(options: TaskLoopOptions) {
    this.#options = options;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  /** Begins no further run. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Resolves when the run under way, if any, has ended. */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** There is something to do. */
  poke(): void {
    if (this.#stopped) return;
    if (this.#isRunning) this.#again = true;
    else if (this.#options.delayMs === undefined) this.#begin();
    else this.in(this.#options.delayMs());
  }

  /** There will be something to do so many milliseconds from now. The earliest of several such moments counts. */
  in(delayMs: number): void {
    const { clock } = this.#options;
    const dueMs = clock.monotonicMs() + delayMs;
    if (this.#stopped || (this.#timer !== undefined && this.#dueMs <= dueMs)) return;
    this.#cancel();
    this.#dueMs = dueMs;
    this.#timer = clock.after(delayMs, () => {
      this.#timer = undefined;
      if (this.#isRunning) this.#again = true;
      else this.#begin();
    });
  }

  #cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #begin(): void {
    if (this.#stopped) return;
    this.#isRunning = true;
    this.#again = false;
    this.#ended = this.#run().finally(() => {
      this.#isRunning = false;
      if (this.#again) this.poke();
    });
  }

  async #run(): Promise<void> {
    try {
      await this.#options.run();
    } catch (error) {
      // What the task works on is closed while it runs.
      if (this.#stopped) return;
      this.#options.failed(error);
      this.in(this.#options.retryMs);
    }
  }
}
