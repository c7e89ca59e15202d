import type { StoredUse } from '../sync/ports/journal.ts';
import type { JournalDatabase } from './database.ts';
import type { Statement } from './statement.ts';

/** The table `uses`: the files that were used last, on a member that fetches contents on demand. */
export class UseStore {
  readonly #all: Statement<StoredUse>;
  readonly #upsert: Statement;
  readonly #remove: Statement;

  constructor(database: JournalDatabase) {
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

  /** Call it in a transaction. */
  write(used: readonly StoredUse[], forgotten: readonly string[]): void {
    for (const { path, number, credit, inflation } of used) this.#upsert.run(path, number, credit, inflation);
    for (const path of forgotten) this.#remove.run(path);
  }
}
