import { type KnownFile, type PackedFiles, packFiles } from '../core/packed-files.ts';
import type { FingerprintTable } from '../sync/ports/disk-table.ts';
import type { JournalDatabase } from './database.ts';
import type { DiskStore } from './disk.ts';
import { limitTo, type Statement } from './statement.ts';

const columns = 'path, ino, size, mtime_ms, ctime_ms, mode';

/** Reads only the columns that the poll for changes compares: it reads hundreds of rows of `disk` each second. */
export class PollReader implements FingerprintTable {
  readonly #database: JournalDatabase;
  readonly #disk: DiskStore;
  readonly #after: Statement;
  /** The last page. A small folder is one page, which is asked for at each turn, and at rest no row changes. */
  #last:
    | { readonly after: string; readonly limit: number; readonly revision: number; readonly page: PackedFiles }
    | undefined;

  constructor(database: JournalDatabase, disk: DiskStore) {
    this.#database = database;
    this.#disk = disk;
    this.#after = database.statement(
      `SELECT ${columns} FROM disk WHERE path > ? AND ino IS NOT NULL AND content IS NOT NULL ORDER BY path ${limitTo}`,
    );
  }

  at(paths: readonly string[]): PackedFiles {
    const files: KnownFile[] = [];
    for (const path of paths) {
      const row = this.#disk.at(path);
      if (row?.fingerprint === undefined || row.content === undefined) continue;
      const { ino, size, mtimeMs, ctimeMs, mode } = row.fingerprint;
      files.push({ path, ino, size, mtimeMs, ctimeMs, mode });
    }
    return packFiles(files);
  }

  after(path: string | undefined, limit: number): PackedFiles {
    const after = path ?? '';
    const { revision } = this.#database;
    const last = this.#last;
    if (last !== undefined && last.after === after && last.limit === limit && last.revision === revision)
      return last.page;
    const rows = this.#after.lists(after, limit) as [string, number, number, number, number, number][];
    const page = packFiles(
      rows.map(([path, ino, size, mtimeMs, ctimeMs, mode]): KnownFile => ({ path, ino, size, mtimeMs, ctimeMs, mode })),
    );
    this.#last = { after, limit, revision, page };
    return page;
  }
}
