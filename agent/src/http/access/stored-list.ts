import { LockstepError } from '@lockstep/shared';
import type { Log } from '../../sync/ports/log.ts';

/** The longest age of the stored times of use: they alone are not worth a write at each request. */
const useStoredMs = 10 * 60_000;

const useLost = 'After a restart the times of the last use are older.';

/** A store in which records outlive a restart of the agent. */
export interface RecordStore<Item> {
  load(): Promise<readonly Item[]>;
  save(records: readonly Item[]): Promise<void>;
}

interface Options<Item> {
  /** Without one a restart loses the records. */
  readonly store: RecordStore<Item> | undefined;
  readonly records: () => readonly Item[];
  /** The noun for the records, at the beginning of a sentence. */
  readonly what: string;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** Stores records after each change, one write at a time. */
export class StoredList<Item> {
  readonly #options: Options<Item>;
  #saving: Promise<void> = Promise.resolve();
  #savedAt: number;
  #isUsed = false;

  constructor(options: Options<Item>) {
    this.#options = options;
    this.#savedAt = options.nowMs();
  }

  /** Stores the present records. Rejects with `folder-not-writable` if that fails; `then` is the sentence on the state in that case. */
  async save(then: string): Promise<void> {
    const { store, records, what, nowMs } = this.#options;
    this.#savedAt = nowMs();
    this.#isUsed = false;
    const saved = this.#saving.then(() => store?.save(records()));
    this.#saving = saved.catch(() => undefined);
    try {
      await saved;
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      const remedy = 'Let the agent write in .lockstep, with room on its disk, and try again.';
      throw new LockstepError(
        'folder-not-writable',
        `${what} could not be stored (${code ?? message}). ${then} ${remedy}`,
        {
          cause,
        },
      );
    }
  }

  /** As `save`; a failure is logged. */
  saveSoon(then: string): void {
    const { what, log } = this.#options;
    this.save(then).catch((error: unknown) => log.warn({ error: String(error) }, `${what} could not be stored`));
  }

  /** Notes that a time of use has changed: it is stored within minutes. */
  used(): void {
    this.#isUsed = true;
    if (this.#options.nowMs() - this.#savedAt >= useStoredMs) this.saveSoon(useLost);
  }

  /** Stores pending changes, and resolves when they are stored. */
  async flushed(): Promise<void> {
    if (this.#isUsed) this.saveSoon(useLost);
    await this.#saving;
  }
}
