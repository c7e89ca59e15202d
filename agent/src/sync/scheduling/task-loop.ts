import type { Clock, Timer } from '../ports/clock.ts';

export interface TaskLoopOptions {
  readonly clock: Clock;
  /** The task: does all that can be done now. Runs never overlap. */
  readonly run: () => Promise<void> | void;
  /** Delay between a poke and the run, in milliseconds. Without it, the run begins within the call. */
  readonly delayMs?: (() => number) | undefined;
  /** Called when the task failed. The task runs again after `retryMs`. */
  readonly failed: (error: unknown) => void;
  readonly retryMs: number;
}

/** Runs a task on demand: one run at a time, and one more if it was poked during a run. */
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

  /** Prevents further runs. */
  stop(): void {
    this.#stopped = true;
    this.#cancel();
  }

  /** Resolves when the run under way, if any, has ended. */
  ended(): Promise<void> {
    return this.#ended;
  }

  /** Requests a run. */
  poke(): void {
    if (this.#stopped) return;
    if (this.#isRunning) this.#again = true;
    else if (this.#options.delayMs === undefined) this.#begin();
    else this.in(this.#options.delayMs());
  }

  /** Requests a run in this many milliseconds. Of several such requests the earliest counts. */
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
      // A stop closes what the task works on, possibly during a run: its failure is then expected.
      if (this.#stopped) return;
      this.#options.failed(error);
      this.in(this.#options.retryMs);
    }
  }
}
