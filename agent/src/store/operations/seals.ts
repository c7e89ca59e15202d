import type { OriginId, VersionVector } from '@lockstep/shared';
import type { SealTable } from '../../sync/ports/journal.ts';
import type { JournalDatabase } from '../database.ts';
import type { Statement } from '../statement.ts';

/** The table `seals`: origins that end, each with its last number that counts. */
export class SealStore implements SealTable {
  readonly #all: Statement<{ origin: OriginId; last: number }>;
  readonly #set: Statement;
  #loaded: VersionVector | undefined;

  constructor(database: JournalDatabase) {
    this.#all = database.statement('SELECT origin, last FROM seals');
    this.#set = database.statement(
      'INSERT INTO seals (origin, last) VALUES (?, ?) ON CONFLICT (origin) DO UPDATE SET last = min(last, excluded.last)',
    );
    database.addHook({
      afterRollback: () => {
        this.#loaded = undefined;
      },
    });
  }

  all(): VersionVector {
    this.#loaded ??= Object.fromEntries(this.#all.all().map(({ origin, last }) => [origin, last]));
    return this.#loaded;
  }

  /** The last number of `origin` that counts; infinite if the origin is not sealed. */
  last(origin: OriginId): number {
    return this.all()[origin] ?? Number.POSITIVE_INFINITY;
  }

  /** Seals `origin` at `last`. A lower number that was set before stays. */
  set(origin: OriginId, last: number): void {
    this.#set.run(origin, last);
    this.#loaded = undefined;
  }
}
