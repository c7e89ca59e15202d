import type Sqlite from 'better-sqlite3';

/** A value that can be bound to a statement's parameter. */
export type Bindable = string | number | Uint8Array | null;

/**
 * The clause `LIMIT ?`. SQLite plans by the number bound to a bare parameter there. So it compiles the statement again at each binding,
 * which is fifty times the work of a look-up.
 */
export const limitTo = 'LIMIT 0 + ?';

/** An SQL statement that is compiled at its first use, and throws the journal's own errors. */
export class Statement<Row = unknown> {
  readonly #sqlite: Sqlite.Database;
  readonly #sql: string;
  /** Turns an error of SQLite into the journal's own. */
  readonly #explained: (error: unknown) => unknown;
  #compiled: Sqlite.Statement<Bindable[], Row> | undefined;

  constructor(sqlite: Sqlite.Database, sql: string, explained: (error: unknown) => unknown) {
    this.#sqlite = sqlite;
    this.#sql = sql;
    this.#explained = explained;
  }

  /** Runs the statement and returns the number of rows changed. */
  run(...values: Bindable[]): number {
    try {
      return this.#prepared().run(...values).changes;
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** The first row. */
  get(...values: Bindable[]): Row | undefined {
    try {
      return this.#prepared().get(...values);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  all(...values: Bindable[]): Row[] {
    try {
      return this.#prepared().all(...values);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** All rows, each as the list of its columns, which costs half of what objects with names do. */
  lists(...values: Bindable[]): Bindable[][] {
    try {
      const prepared = this.#prepared();
      prepared.raw(true);
      try {
        return prepared.all(...values) as Bindable[][];
      } finally {
        prepared.raw(false);
      }
    } catch (error) {
      throw this.#explained(error);
    }
  }

  /** Yields row by row, for results that do not fit into memory. Nothing can be written until the iteration has ended. */
  *each(...values: Bindable[]): IterableIterator<Row> {
    try {
      yield* this.#prepared().iterate(...values);
    } catch (error) {
      throw this.#explained(error);
    }
  }

  #prepared(): Sqlite.Statement<Bindable[], Row> {
    this.#compiled ??= this.#sqlite.prepare<Bindable[], Row>(this.#sql);
    return this.#compiled;
  }
}
