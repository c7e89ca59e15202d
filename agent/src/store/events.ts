import type { EventTable, JournalEvent } from '../sync/ports/journal.ts';
import type { JournalDatabase } from './database.ts';
import { limitTo, type Statement } from './statement.ts';

/** The number of events kept; older ones are dropped. Some weeks of a busy cluster, some megabytes at most. */
export const eventsMax = 10_000;

interface EventRow {
  readonly number: number;
  readonly at: number;
  readonly kind: string;
  readonly data: string;
}

/** The table `events`: messages for people, numbered without gaps. */
export class EventStore implements EventTable {
  readonly #database: JournalDatabase;
  readonly #insert: Statement;
  readonly #trim: Statement;
  readonly #after: Statement<EventRow>;
  readonly #last: Statement<{ number: number }>;
  #lastNumber: number | undefined;

  constructor(database: JournalDatabase) {
    this.#database = database;
    this.#insert = database.statement('INSERT INTO events (number, at, kind, data) VALUES (?, ?, ?, ?)');
    this.#trim = database.statement('DELETE FROM events WHERE number <= ?');
    this.#after = database.statement(
      `SELECT number, at, kind, data FROM events WHERE number > ? ORDER BY number ${limitTo}`,
    );
    this.#last = database.statement('SELECT coalesce(max(number), 0) AS number FROM events');
    database.addHook({
      afterRollback: () => {
        this.#lastNumber = undefined;
      },
    });
  }

  add(at: number, kind: string, data: Readonly<Record<string, unknown>>): JournalEvent {
    // A power cut may take the last events, but not what they report: no change waits for the disk because of them.
    return this.#database.relaxedTransaction(() => {
      const number = this.lastNumber() + 1;
      this.#insert.run(number, at, kind, JSON.stringify(data));
      this.#trim.run(number - eventsMax);
      this.#lastNumber = number;
      return { number, at, kind, data };
    });
  }

  after(number: number, limit: number): readonly JournalEvent[] {
    return this.#after
      .all(number, limit)
      .map((row) => ({ ...row, data: JSON.parse(row.data) as JournalEvent['data'] }));
  }

  lastNumber(): number {
    this.#lastNumber ??= this.#last.get()?.number ?? 0;
    return this.#lastNumber;
  }
}
