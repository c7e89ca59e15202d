import { z } from 'zod';
import { readRegularFile } from '../os/regular-file.ts';
import type { Log } from '../sync/ports/log.ts';
import { writeDurably } from './durable-file.ts';

const addressesSchema = z.array(z.string());

/**
 * The addresses of the other members, in a file next to the journal. They are for a member whose journal is lost and that has no peers in
 * its config because it was the first. Without them it would reach no member, and take its old files for new ones.
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
      const addresses = addressesSchema.parse(JSON.parse(await readRegularFile(path)));
      return { known: new KnownAddresses(path, log, JSON.stringify(addresses)), addresses };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        const said =
          'addresses.json cannot be read or is damaged: the start continues without it, and it is written again';
        log.warn({ path, error: String(error) }, said);
      }
      return { known: new KnownAddresses(path, log, ''), addresses: [] };
    }
  }

  /** Stores the addresses, unless they are already in the file. */
  set(addresses: readonly string[]): void {
    const text = JSON.stringify([...new Set(addresses)].sort());
    if (text === this.#written) return;
    this.#written = text;
    this.#writing = this.#writing
      .then(async () => {
        await writeDurably(this.#path, `${text}\n`);
      })
      .catch((error: unknown) => {
        this.#log.warn({ path: this.#path, error: String(error) }, 'the addresses of the members could not be stored');
      });
  }

  /** Resolves when the last addresses are written. */
  flushed(): Promise<void> {
    return this.#writing;
  }
}
