import { existsSync } from 'node:fs';
import { LockstepError, type MemberId, memberPath } from '@lockstep/shared';
import type Sqlite from 'better-sqlite3';
import { SqliteDatabase } from '../os/sqlite.ts';
import { checkHeader, checkPages, refuseUnusable } from './database.ts';
import { translated } from './journal-error.ts';

/** The state of a journal's file, as a check finds it before any process writes to it. */
export type JournalCheck =
  /** There is no journal, or only an empty database. */
  | { readonly state: 'absent' }
  | { readonly state: 'sound' }
  | { readonly state: 'damaged' | 'newer'; readonly error: LockstepError };

/** Reads the whole journal at `path` once and returns its state. Writes nothing. Throws errors other than those of a journal. */
export function checkJournal(path: string): JournalCheck {
  if (!existsSync(path)) return { state: 'absent' };
  try {
    return withReadOnly(path, (sqlite) => {
      if (checkHeader(sqlite, path) === 0) return { state: 'absent' };
      checkPages(sqlite, path);
      return { state: 'sound' };
    });
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return { state: error.code === 'journal-newer' ? 'newer' : 'damaged', error };
  }
}

// The journal is not migrated: before schema 14 the field was `standing`.
const readOwnMembershipSql =
  "SELECT coalesce(ops.member ->> '$.membership', ops.member ->> '$.standing') FROM heads JOIN ops ON ops.row = heads.op WHERE heads.path = ? AND heads.rank = 0";

/**
 * True when the journal at `path` says that `member` has retired; false if it does not say so, is damaged or is missing. Writes nothing.
 */
export function hasLeft(path: string, member: MemberId): boolean {
  if (!existsSync(path)) return false;
  try {
    return withReadOnly(path, (sqlite) => {
      if (checkHeader(sqlite, path) === 0) return false;
      return sqlite.prepare(readOwnMembershipSql).pluck().get(memberPath(member)) === 'left';
    });
  } catch (error) {
    if (error instanceof LockstepError) return false;
    throw error;
  }
}

function withReadOnly<T>(path: string, read: (sqlite: Sqlite.Database) => T): T {
  refuseUnusable(path);
  let sqlite: Sqlite.Database | undefined;
  try {
    sqlite = new SqliteDatabase(path, { readonly: true, fileMustExist: true });
    return read(sqlite);
  } catch (error) {
    throw translated(path, error);
  } finally {
    sqlite?.close();
  }
}
