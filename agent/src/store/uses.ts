import type { StoredUse, UseTable } from '../sync/ports/journal.ts';
import type { JournalDatabase } from './database.ts';
import type { Statement } from './statement.ts';

/** The table `uses`: the files that were used last, on a member that fetches contents on demand. */
export class UseStore implements UseTable {
  readonly #database: JournalDatabase;
  readonly #all: Statement<StoredUse>;
  readonly #upsert: Statement;
  readonly #remove: Statement;

  constructor(database: JournalDatabase) {
    this.#database = database;
    this.#all = database.statement('SELECT path, number, credit, inflation FROM uses ORDER BY number');
    this.#upsert = database.statement(
      `INSERT INTO uses (path, number, credit, inflation) VALUES (?, ?, ?, ?)
       ON CONFLICT (path) DO UPDATE SET number = excluded.number, credit = excluded.credit, inflation = excluded.inflation`,
    );
    this.#remove = database.statement('DELETE FROM uses WHERE path = ?');
  }

  all(): readonly StoredUse[] {
    return this.#all.all();
  }

  note(used: readonly StoredUse[], forgotten: readonly string[]): void {
    // A power cut may take the last uses: only the cache suffers.
    this.#database.relaxedTransaction(() => {
      for (const { path, number, credit, inflation } of used) this.#upsert.run(path, number, credit, inflation);
      for (const path of forgotten) this.#remove.run(path);
    });
  }
}
