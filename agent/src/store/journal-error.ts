import { rmSync, writeFileSync } from 'node:fs';
import { JOURNAL_VERSION, LockstepError, type MemberId } from '@lockstep/shared';
import { SqliteError } from '../os/sqlite.ts';
import { isNoRoom } from '../os/system-error.ts';

/** A journal whose file is not what SQLite or Lockstep wrote. */
export class JournalDamagedError extends LockstepError {
  /** The damage alone, without what to do. */
  readonly reason: string;

  constructor(path: string, reason: string, options?: ErrorOptions) {
    super(
      'journal-damaged',
      `The journal ${path} is damaged (${reason}). Stop the agent, move ${path}, ${path}-wal and ${path}-shm away, and start ` +
        'again: the journal is rebuilt from the folder and the other members, and no file of the folder is touched.',
      options,
    );
    this.reason = reason;
  }
}

export function damaged(path: string, reason: string, cause?: unknown): JournalDamagedError {
  return new JournalDamagedError(path, reason, cause === undefined ? {} : { cause });
}

/** The error for a journal that a later version of Lockstep has migrated. */
export function newer(path: string, version: number): LockstepError {
  return new LockstepError(
    'journal-newer',
    `The journal ${path} was written by a newer Lockstep (schema ${version}; this one knows up to ${JOURNAL_VERSION}). ` +
      'Install that version or a later one on this machine; nothing was changed.',
  );
}

/** The error for a journal that numbers the operations of another member. */
export function copied(path: string, owner: MemberId, member: MemberId): LockstepError {
  return new LockstepError(
    'copied-state',
    `The journal ${path} belongs to the member ${owner}, not to this one (${member}): it was copied here. Move ${path}, ` +
      `${path}-wal and ${path}-shm away and start again: the journal is rebuilt from the folder and the other members.`,
  );
}

/** The error for a change that did not fit on the disk. Nothing of it was written. */
function full(path: string, cause: unknown): LockstepError {
  return new LockstepError(
    'journal-full',
    `There is no room for the journal ${path}: free some space on its disk, or in the quota of its user. Changes in the folder stay there, and are ` +
      'journaled when there is room.',
    { cause },
  );
}

/** The journals whose disk failed a request of this process, each with SQLite's message then. Later reads prove nothing about the file. */
const unanswered = new Map<string, string>();

/** The error for a disk that does not answer. The journal itself may be whole. */
function unreadable(path: string, reason: string, cause: unknown): LockstepError {
  return new LockstepError(
    'journal-disk',
    `The journal ${path} cannot be read or written because of its disk (${reason}). Check that the disk is connected and mounted, ` +
      'and start the agent again (lockstep up). Leave the journal where it is: most likely nothing is wrong with it.',
    { cause },
  );
}

/** The error for a journal that this user may not open or change, or whose name a directory has. */
export function forbidden(path: string, reason: string, cause?: unknown): LockstepError {
  return new LockstepError(
    'folder-not-writable',
    `The journal ${path} cannot be opened or written (${reason}). Make sure that ${path}, ${path}-wal and ${path}-shm are files that ` +
      'this user may read and write, or run as their owner.',
    { cause },
  );
}

/** About as much as a small change needs. */
const probeBytes = 65_536;

/**
 * True if SQLite's error of a disk that fails means that there is no room: it takes a quota that is used up for such a disk. A write next to
 * `path` shows that. If the disk takes one, the write that failed lacked room that there is again: a bad disk fails reads and syncs.
 */
function isLackOfRoom(path: string, code: string): boolean {
  const probe = `${path}.probe`;
  try {
    writeFileSync(probe, new Uint8Array(probeBytes));
    return code === 'SQLITE_IOERR_WRITE';
  } catch (error) {
    return isNoRoom(error);
  } finally {
    removeProbe(probe);
  }
}

/** A disk that fails may keep it. */
function removeProbe(probe: string): void {
  try {
    rmSync(probe, { force: true });
  } catch {
    return;
  }
}

/** Turns SQLite's errors about damaged pages, rights, a full disk and a failing disk into our own; returns every other error unchanged. */
export function translated(path: string, error: unknown): unknown {
  if (!(error instanceof SqliteError)) return error;
  // The second: the index of the write-ahead log could not grow.
  if (error.code === 'SQLITE_FULL' || error.code === 'SQLITE_IOERR_SHMSIZE') return full(path, error);
  if (error.code.startsWith('SQLITE_IOERR') && !unanswered.has(path)) {
    if (isLackOfRoom(path, error.code)) return full(path, error);
    unanswered.set(path, error.message);
  }
  const answer = unanswered.get(path);
  if (answer !== undefined) return unreadable(path, answer, error);
  const corrupt = error.code.startsWith('SQLITE_CORRUPT') || error.code === 'SQLITE_NOTADB';
  if (corrupt) return damaged(path, error.message, error);
  const isForbidden = /^SQLITE_(CANTOPEN|READONLY|PERM)/.test(error.code);
  return isForbidden ? forbidden(path, error.message, error) : error;
}
