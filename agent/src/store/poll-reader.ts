import { type KnownFile, type PackedFiles, packFiles } from '../core/packed-files.ts';
import type { JournalDatabase } from './database.ts';
import type { DiskStore } from './disk.ts';
import { limitTo, type Statement } from './statement.ts';

const columns = 'path, ino, size, mtime_ms AS mtimeMs, ctime_ms AS ctimeMs, mode';

/** Reads only the columns that the poll for changes compares: it reads a thousand rows of `disk` each second. */
export class PollReader {
  readonly #disk: DiskStore;
  readonly #after: Statement<KnownFile>;

  constructor(database: JournalDatabase, disk: DiskStore) {
    this.#disk = disk;
    this.#after = database.statement(
      `SELECT ${columns} FROM disk WHERE path > ? AND ino IS NOT NULL AND content IS NOT NULL ORDER BY path ${limitTo}`,
    );
  }

  at(paths: readonly string[]): PackedFiles {
    const rows = paths.map((path) => this.#disk.entry(path));
    return packFiles(
      rows.flatMap((row) => (row?.fingerprint && row.content ? { ...row.fingerprint, path: row.path } : [])),
    );
  }

  after(path: string | undefined, limit: number): PackedFiles {
    return packFiles(this.#after.all(path ?? '', limit));
  }
}
