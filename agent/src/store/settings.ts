import { isOriginId, type MemberId, memberOf, type OriginId, originId } from '@lockstep/shared';
import type { SettingTable } from '../sync/ports/journal.ts';
import type { JournalDatabase } from './database.ts';
import { copied, damaged } from './journal-error.ts';
import type { Statement } from './statement.ts';

/** The name of the journal's own origin. All other settings have a prefix, so that none can collide with it. */
const originSetting = 'origin';
const namePrefix = 'setting:';

export const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
/** The length of an incarnation in characters: 40 bits. */
export const incarnationLength = 8;

/** The table `settings`: values by name, and the journal's own origin. */
export class SettingStore implements SettingTable {
  readonly #database: JournalDatabase;
  readonly #get: Statement<{ value: string }>;
  readonly #set: Statement;

  constructor(database: JournalDatabase) {
    this.#database = database;
    this.#get = database.statement('SELECT value FROM settings WHERE name = ?');
    this.#set = database.statement(
      'INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value',
    );
  }

  get(name: string): string | undefined {
    return this.#get.get(namePrefix + name)?.value;
  }

  set(name: string, value: string): void {
    this.#database.transaction(() => this.#set.run(namePrefix + name, value));
  }

  note(name: string, value: string): void {
    this.#database.relaxedTransaction(() => this.set(name, value));
  }

  /**
   * The origin of this journal: drawn when the journal is new, then constant. Throws `journal-damaged` if it is malformed, and
   * `copied-state` if the journal is another member's.
   */
  origin(member: MemberId, random: () => number): OriginId {
    const stored = this.#get.get(originSetting)?.value;
    if (stored === undefined) return this.newOrigin(member, random);
    if (!isOriginId(stored)) throw damaged(this.#database.path, `its origin is "${stored}"`);
    if (memberOf(stored) !== member) throw copied(this.#database.path, memberOf(stored), member);
    return stored;
  }

  /** Draws another origin and stores it. */
  newOrigin(member: MemberId, random: () => number): OriginId {
    const drawn = originId(member, drawIncarnation(random));
    this.#database.transaction(() => this.#set.run(originSetting, drawn));
    return drawn;
  }
}

function drawIncarnation(random: () => number): string {
  return Array.from({ length: incarnationLength }, () => base32.charAt(Math.floor(random() * base32.length))).join('');
}
