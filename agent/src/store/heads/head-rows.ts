import { RecentMap } from '../../core/recent-map.ts';
import type { JournalDatabase } from '../database.ts';
import { rowsKeptMax } from '../rows-kept.ts';
import type { Statement } from '../statement.ts';
import { type HeadRow, type HeadState, headColumns, headValues } from './head-row.ts';

/** The rows of the table `heads`, by path. The rows of the newest paths are cached. */
export class HeadRows {
  readonly #at: Statement<HeadRow>;
  readonly #insert: Statement;
  readonly #replace: Statement;
  readonly #setState: Statement;
  readonly #delete: Statement;
  readonly #kept = new RecentMap<string, readonly HeadRow[]>(rowsKeptMax);

  constructor(database: JournalDatabase) {
    this.#at = database.statement(`SELECT ${headColumns} FROM heads WHERE path = ? ORDER BY rank`);
    this.#insert = database.statement(`INSERT INTO heads (${headColumns}, path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#replace = database.statement(
      `UPDATE heads SET (${headColumns}, orphan) = (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL) WHERE op = ?`,
    );
    this.#setState = database.statement('UPDATE heads SET state = ? WHERE op = ?');
    this.#delete = database.statement('DELETE FROM heads WHERE path = ?');
    database.addHook({ afterRollback: () => this.forget() });
  }

  /** The heads of a path, the visible one first. */
  at(path: string): readonly HeadRow[] {
    const kept = this.#kept.get(path);
    if (kept !== undefined) return kept;
    const rows = this.#at.all(path);
    this.#kept.set(path, rows);
    return rows;
  }

  /** Replaces all rows of a path, without the mark of an orphan. */
  write(path: string, after: readonly HeadRow[]): void {
    const before = this.at(path);
    const [old] = before;
    const [visible] = after;
    if (old !== undefined && visible !== undefined && before.length === 1 && after.length === 1) {
      this.#replace.run(...headValues(visible), old.op);
    } else {
      if (old !== undefined) this.#delete.run(path);
      for (const row of after) this.#insert.run(...headValues(row), path);
    }
    this.#kept.set(path, after);
  }

  /** Changes the state of the visible head. */
  setVisibleState(path: string, state: HeadState): void {
    const [visible, ...rest] = this.at(path);
    if (visible === undefined) return;
    this.#setState.run(state, visible.op);
    this.#kept.set(path, [{ ...visible, state }, ...rest]);
  }

  /** Drops cached rows that were not used since the last call. */
  ageCache(): void {
    this.#kept.age();
  }

  /** Clears the cache: rows may have been changed in another way. */
  forget(): void {
    this.#kept.clear();
  }
}
