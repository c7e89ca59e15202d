import { closeSync, fsyncSync, openSync, renameSync, rmSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import type Sqlite from 'better-sqlite3';

/** The database, its write-ahead log and the index of that. All three exist while a connection is open. */
const suffixes = ['', '-wal', '-shm'] as const;

/** Whether the files of an open journal still have their names. Without its name a file is gone once the process ends. */
export class JournalPlace {
  readonly #path: string;
  readonly #directory: string | undefined;
  readonly #files: readonly (string | undefined)[];

  /** The journal at `path` has been opened, and read or written. */
  constructor(path: string) {
    this.#path = path;
    this.#directory = identityOf(dirname(path));
    this.#files = suffixes.map((suffix) => identityOf(path + suffix));
  }

  /** The first file that is gone or is another one; undefined also while the whole state directory is gone, or cannot be read: it may come back. */
  get lost(): string | undefined {
    try {
      const lost = suffixes.find((suffix, index) => identityOf(this.#path + suffix) !== this.#files[index]);
      // Asked last: the directory may be moved away between the two.
      const isThere = lost !== undefined && identityOf(dirname(this.#path)) === this.#directory;
      return isThere ? this.#path + lost : undefined;
    } catch {
      return undefined;
    }
  }

  /**
   * Writes the database again if its name is free, with all that the open connection reads. To be called last before it is closed. A loss of
   * the log alone needs nothing: the close copies it into the database.
   */
  putBack(sqlite: Sqlite.Database): void {
    if (this.lost === undefined || identityOf(this.#path) !== undefined) return;
    const draft = `${this.#path}.new`;
    try {
      rmSync(draft, { force: true });
      sqlite.prepare('VACUUM INTO ?').run(draft);
      sync(draft);
      // SQLite would take the log of the lost database for one of the new.
      for (const suffix of ['-wal', '-shm']) rmSync(this.#path + suffix, { force: true });
      renameSync(draft, this.#path);
      sync(dirname(this.#path));
    } catch {
      // The disk is full or failing. The next start builds a new journal.
      rmSync(draft, { force: true });
    }
  }
}

/** The error for a journal of which a file, `lost`, was removed or replaced while it was open. */
export function removed(path: string, lost: string): LockstepError {
  return new LockstepError(
    'journal-removed',
    `${lost} was removed or replaced while the agent ran, so the agent ended: what it would have written from now on would have been lost. ` +
      `Start it again (lockstep up). It continues with ${path}, which was written again if its name was free and the disk had room.`,
  );
}

function identityOf(path: string): string | undefined {
  const stats: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  return stats && `${stats.dev}:${stats.ino}`;
}

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
