import type { Timer } from '../ports/clock.ts';
import type { HistoryLimits } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';

const intervalMs = 60_000;

/** Keeps `history/` within its limits. Content that a head still needs stays whatever they say. */
export class Retention {
  readonly #context: Context;
  readonly #limits: HistoryLimits;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(context: Context, limits: HistoryLimits) {
    this.#context = context;
    this.#limits = limits;
  }

  start(): void {
    this.#timer = this.#context.clock.after(intervalMs, () => {
      if (this.#stopped) return;
      this.#trim()
        .finally(() => this.start())
        .catch(() => undefined);
    });
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
  }

  async #trim(): Promise<void> {
    const { folder, journal, log } = this.#context;
    try {
      await folder.trimHistory(this.#limits, (content) => journal.headWithContent(content) !== undefined);
    } catch (error) {
      log.warn({ error: String(error) }, 'old versions could not be removed; it is tried again in a minute');
    }
  }
}
