import type { Applied } from '@lockstep/shared';
import type { AckTable } from '../../sync/ports/journal.ts';
import type { JournalDatabase } from '../database.ts';
import type { Statement } from '../statement.ts';

/** The table `acks`: the last acknowledgement of each other member. */
export class AckStore implements AckTable {
  readonly #database: JournalDatabase;
  readonly #upsert: Statement;
  readonly #all: Statement<{ member: string; applied: string }>;

  constructor(database: JournalDatabase) {
    this.#database = database;
    this.#upsert = database.statement(
      'INSERT INTO acks (member, applied) VALUES (?, ?) ON CONFLICT (member) DO UPDATE SET applied = excluded.applied',
    );
    this.#all = database.statement('SELECT member, applied FROM acks');
  }

  /**
   * Stores an acknowledgement. They come every few milliseconds, and an older one only understates. So this does not wait for the disk,
   * unless it is part of a transaction that does.
   */
  save(member: string, applied: Applied): void {
    this.#database.relaxedTransaction(() => this.#upsert.run(member, JSON.stringify(applied)));
  }

  all(): Readonly<Record<string, Applied>> {
    return Object.fromEntries(this.#all.all().map(({ member, applied }) => [member, JSON.parse(applied) as Applied]));
  }
}
