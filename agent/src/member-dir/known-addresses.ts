import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { Log } from '../sync/ports/log.ts';
import { writeDurably } from './durable-file.ts';

const addressesSchema = z.array(z.string());

/**
 * The addresses of the other members, in a file beside the journal. A member whose journal is lost, and that has no peers in
 * its config because it was the first, would else know nobody to ask, and take its old files for news.
 */
export class KnownAddresses {
  readonly #path: string;
  readonly #log: Log;
  #written: string;
  #writing: Promise<void> = Promise.resolve();

  private constructor(path: string, log: Log, written: string) {
    this.#path = path;
    this.#log = log;
    this.#written = written;
  }

  /** Reads the file at `path`; one that is absent or damaged holds no address. */
  static async open(path: string, log: Log): Promise<{ known: KnownAddresses; addresses: readonly string[] }> {
    try {
      const addresses = addressesSchema.parse(JSON.parse(await readFile(path, 'utf8')));
      return { known: new KnownAddresses(path, log, JSON.stringify(addresses)), addresses };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        const said =
          'addresses.json cannot be read or is damaged: the start goes on without it, and it is written again';
        log.warn({ path, error: String(error) }, said);
      }
      return { known: new KnownAddresses(path, log, ''), addresses: [] };
    }
  }

  /** Writes the addresses down, unless they are there. */
  set(addresses: readonly string[]): void {
    const text = JSON.stringify([...new Set(addresses)].sort());
    if (text === this.#written) return;
    this.#written = text;
    this.#writing = this.#writing
      .then(async () => {
        await writeDurably(this.#path, `${text}\n`);
      })
      .catch((error: unknown) => {
        this.#log.warn({ path: this.#path, error: String(error) }, 'the addresses of the members could not be kept');
      });
  }

  /** Resolves when what was set is written. */
  flushed(): Promise<void> {
    return this.#writing;
  }
}
