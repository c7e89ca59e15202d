import type { HistoryLimits } from '../ports/folder.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

const intervalMs = 60_000;

/** Keeps `history/` within its limits. Content that a head still needs stays beyond them. */
export class Retention {
  readonly #context: Context;
  readonly #limits: HistoryLimits;
  readonly #loop: TaskLoop;

  constructor(context: Context, limits: HistoryLimits) {
    this.#context = context;
    this.#limits = limits;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#trim(),
      failed: (error) => {
        context.log.warn({ error: String(error) }, 'old versions could not be removed; this is retried in a minute');
      },
      retryMs: intervalMs,
    });
  }

  start(): void {
    this.#loop.in(intervalMs);
  }

  stop(): void {
    this.#loop.stop();
  }

  async #trim(): Promise<void> {
    const { folder, journal } = this.#context;
    await folder.trimHistory(this.#limits, (content) => journal.headWithContent(content) !== undefined);
    this.#loop.in(intervalMs);
  }
}
