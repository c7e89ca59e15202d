import { noticeKinds, type Remembered } from '@lockstep/shared/present';
import type Sqlite from 'better-sqlite3';
import { z } from 'zod';

const rememberedSchema = z.array(
  z.object({
    key: z.string(),
    kind: z.enum(noticeKinds),
    member: z.string(),
    text: z.string(),
    since: z.number(),
    toldAt: z.number().optional(),
    count: z.number().optional(),
  }),
);

/** The notices that each target got, in `health.db`: an agent that starts again does not repeat them. */
export class RememberedStore {
  readonly #load: Sqlite.Statement<[string], { data: string }>;
  readonly #save: Sqlite.Statement<[string, string]>;
  readonly #saved = new Map<string, string>();

  constructor(database: Sqlite.Database) {
    this.#load = database.prepare('SELECT data FROM kept WHERE name = ?');
    this.#save = database.prepare('INSERT OR REPLACE INTO kept (name, data) VALUES (?, ?)');
  }

  load(target: string): readonly Remembered[] {
    const row = this.#load.get(nameOf(target));
    if (row === undefined) return [];
    this.#saved.set(target, row.data);
    return rememberedSchema.parse(JSON.parse(row.data));
  }

  /** Writes only what has changed. */
  save(target: string, remembered: readonly Remembered[]): void {
    const data = JSON.stringify(remembered.map(({ goneAt: _, ...kept }) => kept));
    if (this.#saved.get(target) === data) return;
    this.#save.run(nameOf(target), data);
    this.#saved.set(target, data);
  }
}

function nameOf(target: string): string {
  return `told ${target}`;
}
