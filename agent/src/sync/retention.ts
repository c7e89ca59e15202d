import type { Context } from './context.ts';
import type { Timer } from './ports/clock.ts';

const intervalMs = 60_000;

/** Keeps `history/` within its quota. Content that a head still needs stays whatever the quota says. */
export class Retention {
  readonly #context: Context;
  readonly #bytesMax: number;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(context: Context, bytesMax: number) {
    this.#context = context;
    this.#bytesMax = bytesMax;
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
      await folder.trimHistory(this.#bytesMax, (content) => journal.headWithContent(content) !== undefined);
    } catch (error) {
      log.warn({ error: String(error) }, 'old versions could not be removed; it is tried again in a minute');
    }
  }
}
