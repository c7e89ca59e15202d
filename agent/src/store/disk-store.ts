import type { ContentId } from '@lockstep/shared';
import type { DiskChange, DiskEntry } from '../core/disk-entry.ts';
import type { JournalDatabase } from './database.ts';
import { contentKey, type Shown } from './head-row.ts';
import type { OriginTable } from './origin-table.ts';
import { directChildren, rangeBelow, successor } from './path-range.ts';
import { limitTo, type Statement } from './statement.ts';

interface DiskRow {
  readonly path: string;
  readonly origin: number;
  readonly seq: number;
  readonly content: ContentId | null;
  readonly ino: number | null;
  readonly size: number;
  readonly mtime_ms: number;
  readonly ctime_ms: number;
  readonly mode: number;
  readonly racy: number | null;
}

const columns = 'path, origin, seq, content, ino, size, mtime_ms, ctime_ms, mode, racy';

/** The table `disk`: what this member last put or saw at each path. */
export class DiskStore {
  readonly #origins: OriginTable;
  readonly #entry: Statement<DiskRow>;
  readonly #shown: Statement<Shown>;
  readonly #below: Statement<DiskRow>;
  readonly #withContent: Statement<DiskRow>;
  readonly #withInode: Statement<DiskRow>;
  readonly #upsert: Statement;
  readonly #remove: Statement;

  constructor(database: JournalDatabase, origins: OriginTable) {
    this.#origins = origins;
    const select = (rest: string): Statement<DiskRow> =>
      database.statement(`SELECT ${columns} FROM disk WHERE ${rest}`);
    this.#entry = select('path = ?');
    this.#shown = database.statement('SELECT origin, seq, ino IS NOT NULL AS present FROM disk WHERE path = ?');
    this.#below = select(`path >= ? AND path < ? AND ino IS NOT NULL ORDER BY path ${limitTo}`);
    this.#withContent = select(`content_key = ? AND content = ? AND ino IS NOT NULL ${limitTo}`);
    this.#withInode = select('ino = ?');
    this.#upsert = database.statement(
      `INSERT INTO disk (path, origin, seq, content, content_key, ino, size, mtime_ms, ctime_ms, mode, racy)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (path) DO UPDATE SET origin = excluded.origin, seq = excluded.seq, content = excluded.content,
         content_key = excluded.content_key, ino = excluded.ino, size = excluded.size, mtime_ms = excluded.mtime_ms,
         ctime_ms = excluded.ctime_ms, mode = excluded.mode, racy = excluded.racy`,
    );
    this.#remove = database.statement('DELETE FROM disk WHERE path = ?');
  }

  entry(path: string): DiskEntry | undefined {
    const row = this.#entry.get(path);
    return row && this.#toEntry(row);
  }

  shown(path: string): Shown | undefined {
    return this.#shown.get(path);
  }

  children(directory: string): readonly DiskEntry[] {
    const page = this.#below.all.bind(this.#below);
    return Array.from(directChildren(directory, page), this.#toEntry);
  }

  below(directory: string, after: string | undefined, limit: number): readonly DiskEntry[] {
    const { from, to } = rangeBelow(directory);
    return this.#below.all(after === undefined ? from : successor(after), to, limit).map(this.#toEntry);
  }

  withContent(content: ContentId, limit: number): readonly DiskEntry[] {
    return this.#withContent.all(contentKey(content), content, limit).map(this.#toEntry);
  }

  withInode(ino: number): readonly DiskEntry[] {
    return this.#withInode.all(ino).map(this.#toEntry);
  }

  /** Writes one row and returns what the path shows now. */
  write({ path, entry }: DiskChange): Shown | undefined {
    if (entry === undefined) {
      this.#remove.run(path);
      return undefined;
    }
    const { dot, content, fingerprint, racy } = entry;
    const origin = this.#origins.number(dot.origin);
    this.#upsert.run(
      path,
      origin,
      dot.seq,
      content ?? null,
      contentKey(content),
      fingerprint?.ino ?? null,
      fingerprint?.size ?? null,
      fingerprint?.mtimeMs ?? null,
      fingerprint?.ctimeMs ?? null,
      fingerprint?.mode ?? null,
      racy === undefined ? null : Number(racy),
    );
    return { origin, seq: dot.seq, present: Number(fingerprint !== undefined) };
  }

  readonly #toEntry = (row: DiskRow): DiskEntry => {
    const { path, seq, content, ino, size, mtime_ms: mtimeMs, ctime_ms: ctimeMs, mode } = row;
    return {
      path,
      dot: { origin: this.#origins.name(row.origin), seq },
      ...(content !== null && { content }),
      ...(ino !== null && { fingerprint: { ino, size, mtimeMs, ctimeMs, mode } }),
      ...(row.racy !== null && { racy: row.racy !== 0 }),
    };
  };
}
