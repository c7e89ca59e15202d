import { statSync } from 'node:fs';
import { LockstepError } from '@lockstep/shared';
import type Database from 'better-sqlite3';
import { SqliteDatabase, SqliteError } from '../os/sqlite.ts';

/** A lock on a file that only one process at a time can hold. */
export interface ExclusiveLock {
  release(): void;
}

/**
 * Takes the lock of the file `path`, waiting up to `timeoutMs`; undefined if another process holds it. It is an SQLite file in an exclusive
 * transaction. The kernel releases the lock when the process ends, however it ends, so there are no stale locks and no reused process ids.
 * Throws 'folder-not-writable' if the file cannot be locked.
 */
export function tryExclusiveLock(path: string, timeoutMs: number): ExclusiveLock | undefined {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? true;
  if (!isFile) {
    const message = `${path} is not a file, and Lockstep needs one there. Make sure that no agent runs here, and remove it.`;
    throw new LockstepError('folder-not-writable', message);
  }
  let database: Database.Database | undefined;
  try {
    const opened = new SqliteDatabase(path, { timeout: timeoutMs });
    database = opened;
    opened.pragma('locking_mode = EXCLUSIVE');
    opened.exec('BEGIN EXCLUSIVE');
    return { release: () => opened.close() };
  } catch (cause) {
    database?.close();
    const code = cause instanceof SqliteError ? cause.code : undefined;
    if (code?.startsWith('SQLITE_BUSY') === true) return undefined;
    if (code === 'SQLITE_NOTADB') {
      const message = `${path} is damaged. It contains no data: make sure that no agent runs here, and remove it.`;
      throw new LockstepError('folder-not-writable', message, { cause });
    }
    throw new LockstepError(
      'folder-not-writable',
      `${path} cannot be locked (${code ?? String(cause)}). Make it and its directory writable for this user, and make sure that the disk has room.`,
      { cause },
    );
  }
}
