import { type HealthEvent, type HealthEvents, type HealthEventsQuery, healthEventSchema } from '@lockstep/shared/api';
import type Sqlite from 'better-sqlite3';
import { type EventMemory, emptyMemory, eventMemorySchema, type NewEvent } from './event-diff.ts';

/** The events that are kept, at most: a page is read at a time, and 10,000 have 2 MB. */
const eventsMax = 10_000;

/** The name under which the memory of the differences is kept. */
const memoryName = 'events';

interface Row {
  readonly number: number;
  readonly at: number;
  readonly kind: string;
  readonly member: string;
  readonly data: string;
}

/** The events in the history of health. */
export class EventLog {
  readonly #insert: Sqlite.Statement<[number, string, string, string]>;
  readonly #page: Sqlite.Statement<[number, number], Row>;
  readonly #pageOf: Sqlite.Statement<[string, number, number], Row>;
  readonly #drop: Sqlite.Statement<[number, number]>;
  readonly #load: Sqlite.Statement<[string], { data: string }>;
  readonly #save: Sqlite.Statement<[string, string]>;

  constructor(database: Sqlite.Database) {
    this.#insert = database.prepare('INSERT INTO events (at, kind, member, data) VALUES (?, ?, ?, ?)');
    this.#page = database.prepare('SELECT * FROM events WHERE number < ? ORDER BY number DESC LIMIT ?');
    this.#pageOf = database.prepare(
      'SELECT * FROM events WHERE member = ? AND number < ? ORDER BY number DESC LIMIT ?',
    );
    this.#drop = database.prepare('DELETE FROM events WHERE at < ? OR number <= (SELECT max(number) FROM events) - ?');
    this.#load = database.prepare('SELECT data FROM kept WHERE name = ?');
    this.#save = database.prepare('INSERT OR REPLACE INTO kept (name, data) VALUES (?, ?)');
  }

  /** Adds events, and keeps what the next differences are taken from. */
  add(at: number, events: readonly NewEvent[], memory: EventMemory): void {
    for (const { kind, member, name, data } of events) {
      this.#insert.run(at, kind, member, JSON.stringify({ name, data }));
    }
    this.#save.run(memoryName, JSON.stringify(memory));
  }

  memory(): EventMemory {
    const row = this.#load.get(memoryName);
    return row === undefined ? emptyMemory : eventMemorySchema.parse(JSON.parse(row.data));
  }

  read({ before = Number.MAX_SAFE_INTEGER, member, limit }: HealthEventsQuery): HealthEvents {
    const rows = member === undefined ? this.#page.all(before, limit + 1) : this.#pageOf.all(member, before, limit + 1);
    return { events: rows.slice(0, limit).map(eventOf), more: rows.length > limit };
  }

  drop(before: number): void {
    this.#drop.run(before, eventsMax);
  }
}

function eventOf({ data, ...row }: Row): HealthEvent {
  return healthEventSchema.parse({ ...row, ...(JSON.parse(data) as object) });
}
