import { type ContentId, isMemberPath } from '@lockstep/shared';
import { cleanedBy, type SyncSpan } from '../core/confirmation.ts';
import { contentRead, type DiskChange, type DiskEntry, isDirectoryMode, isFileMode } from '../core/entry.ts';
import { RecentMap } from '../core/recent-map.ts';
import type { ContentWatcher, DiskTable, UnsyncedRows } from '../sync/ports/disk-table.ts';
import type { JournalDatabase } from './database.ts';
import { asStored, type DiskRow, diskColumns, fromDiskRow, shownOf } from './disk-row.ts';
import { contentKey, type Shown } from './heads/head-row.ts';
import { diskTotals } from './migrations.ts';
import type { OriginTable } from './operations/origin-table.ts';
import { directChildren, rangeBelow, successor } from './path-range.ts';
import { rowsKeptMax } from './rows-kept.ts';
import { limitTo, type Statement } from './statement.ts';
import type { DiskTotals, TotalsStore } from './totals.ts';
import { UnsyncedDirectories } from './unsynced-directories.ts';

/** The state of a path before and after its row was written. */
export interface ShownChange {
  readonly before: Shown | undefined;
  readonly after: Shown | undefined;
}

interface DiskParts {
  readonly origins: OriginTable;
  readonly totals: TotalsStore;
  /** Called before a row is written that names a file which is not on this disk. If it throws, nothing is written. */
  readonly beforeRemote: ((path: string) => void) | undefined;
}

/** The table `disk`: the entry that this member last wrote or saw at each path. */
export class DiskStore implements DiskTable {
  readonly #origins: OriginTable;
  readonly #entry: Statement<DiskRow>;
  readonly #below: Statement<DiskRow>;
  readonly #withContent: Statement<DiskRow>;
  readonly #withInode: Statement<DiskRow>;
  readonly #upsert: Statement;
  readonly #allDamaged: Statement<{ path: string }>;
  /** Paths that are damaged, or were at the last query. */
  #damagedPaths: Set<string> | undefined;
  readonly #remove: Statement;
  readonly #unsynced: Statement<{ path: string; mark: number }>;
  readonly #dirty: Statement<{ path: string }>;
  readonly #unconfirmedBelow: Statement<{ path: string }>;
  readonly #clean: Statement<DiskRow>;
  readonly #remoteBelow: Statement<DiskRow>;
  readonly #confirmed: Statement;
  readonly #cleaned: Statement;
  readonly #lastGeneration: Statement<{ last: number | null }>;
  readonly #synced: Statement;
  readonly #counted: Statement<DiskTotals>;
  readonly #totals: TotalsStore;
  readonly #database: JournalDatabase;
  /**
   * Rows as they are in the table; null where there is none. A row is read at each step of an operation on its way to the disk, and again
   * when the change is seen there.
   */
  readonly #kept = new RecentMap<string, DiskEntry | null>(rowsKeptMax);
  #atInode: { readonly ino: number; readonly revision: number; readonly entries: readonly DiskEntry[] } | undefined;
  /** The value of `unsynced` for rows written now. It grows, so that a sync clears only rows that were written before it. */
  #generation: number | undefined;
  #watcher: ContentWatcher | undefined;
  #follower: ((path: string, change: ShownChange) => void) | undefined;
  readonly #unsyncedDirectories: UnsyncedDirectories;
  readonly #beforeRemote: ((path: string) => void) | undefined;

  constructor(database: JournalDatabase, parts: DiskParts) {
    this.#database = database;
    this.#totals = parts.totals;
    this.#origins = parts.origins;
    this.#beforeRemote = parts.beforeRemote;
    const select = (rest: string): Statement<DiskRow> =>
      database.statement(`SELECT ${diskColumns} FROM disk WHERE ${rest}`);
    this.#entry = select('path = ?');
    this.#counted = database.statement(`SELECT ${diskTotals} FROM disk`);
    this.#below = select(`path >= ? AND path < ? AND ino IS NOT NULL ORDER BY path ${limitTo}`);
    this.#withContent = select(`content_key = ? AND content = ? AND ino IS NOT NULL ${limitTo}`);
    this.#withInode = select('ino = ?');
    this.#upsert = database.statement(
      `INSERT INTO disk (path, origin, seq, content, content_key, ino, size, mtime_ms, ctime_ms, mode, birth_ms, racy,
         unsynced, unconfirmed, damaged, cut, remote)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (path) DO UPDATE SET origin = excluded.origin, seq = excluded.seq, content = excluded.content,
         content_key = excluded.content_key, ino = excluded.ino, size = excluded.size, mtime_ms = excluded.mtime_ms,
         ctime_ms = excluded.ctime_ms, mode = excluded.mode, birth_ms = excluded.birth_ms, racy = excluded.racy,
         unsynced = excluded.unsynced, unconfirmed = excluded.unconfirmed, damaged = excluded.damaged,
         cut = excluded.cut, remote = excluded.remote`,
    );
    this.#allDamaged = database.statement('SELECT path FROM disk WHERE damaged IS NOT NULL');
    this.#remove = database.statement('DELETE FROM disk WHERE path = ?');
    this.#unsynced = database.statement(
      'SELECT path, unsynced AS mark FROM disk INDEXED BY disk_unsynced WHERE unsynced IS NOT NULL',
    );
    this.#dirty = database.statement(
      'SELECT path FROM disk INDEXED BY disk_unconfirmed WHERE unconfirmed IS NOT NULL AND unconfirmed > 0',
    );
    this.#unconfirmedBelow = database.statement(
      'SELECT path FROM disk INDEXED BY disk_unconfirmed WHERE unconfirmed IS NOT NULL AND path >= ? AND path < ?',
    );
    this.#clean = database.statement(
      `SELECT ${diskColumns} FROM disk INDEXED BY disk_unconfirmed WHERE unconfirmed = 0 AND path > ? ORDER BY path ${limitTo}`,
    );
    this.#remoteBelow = database.statement(
      `SELECT ${diskColumns} FROM disk INDEXED BY disk_remote WHERE remote IS NOT NULL AND path >= ? AND path < ? ORDER BY path ${limitTo}`,
    );
    this.#confirmed = database.statement(
      `UPDATE disk SET unconfirmed = NULL, racy = 0
       WHERE path = ? AND unconfirmed = 0 AND coalesce(content, damaged) = ? AND ino = ? AND size = ? AND mtime_ms = ? AND ctime_ms = ?`,
    );
    this.#cleaned = database.statement(
      `UPDATE disk INDEXED BY disk_unconfirmed SET unconfirmed = 0
       WHERE unconfirmed IS NOT NULL AND unconfirmed > 0 AND unconfirmed <= ? AND (ctime_ms <= ? OR ctime_ms > ?)`,
    );
    this.#lastGeneration = database.statement(
      `SELECT max(last) AS last FROM (
         SELECT max(unsynced) AS last FROM disk INDEXED BY disk_unsynced WHERE unsynced IS NOT NULL
         UNION ALL
         SELECT max(unconfirmed) AS last FROM disk INDEXED BY disk_unconfirmed WHERE unconfirmed IS NOT NULL)`,
    );
    this.#synced = database.statement(
      'UPDATE disk INDEXED BY disk_unsynced SET unsynced = NULL WHERE unsynced IS NOT NULL AND unsynced > ? AND unsynced <= ?',
    );
    this.#unsyncedDirectories = new UnsyncedDirectories(database);
    database.addHook({
      afterRollback: () => {
        this.forget();
        this.#unsyncedDirectories.forget();
        this.#watcher?.rolledBack();
      },
    });
  }

  at(path: string): DiskEntry | undefined {
    const kept = this.#kept.get(path);
    if (kept !== undefined) return kept ?? undefined;
    const row = this.#entry.get(path);
    const entry = row && this.#toEntry(row);
    this.#kept.set(path, entry ?? null);
    return entry;
  }

  shown(path: string): Shown | undefined {
    const entry = this.at(path);
    return entry && shownOf(entry, this.#origins.number(entry.dot.origin), contentKey(entry.content));
  }

  /** Drops cached rows that were not used since the last call. */
  ageCache(): void {
    this.#kept.age();
  }

  /** Clears the cache: many rows were changed. */
  forget(): void {
    this.#kept.clear();
    this.#atInode = undefined;
  }

  children(directory: string, after: string | undefined, limit: number): readonly DiskEntry[] {
    return this.#childrenOf(this.#below, directory, { after, limit });
  }

  below(directory: string, after: string | undefined, limit: number): readonly DiskEntry[] {
    const { from, to } = rangeBelow(directory);
    return this.#below.all(after === undefined ? from : successor(after), to, limit).map(this.#toEntry);
  }

  withContent(content: ContentId, limit: number): readonly DiskEntry[] {
    return this.#withContent.all(contentKey(content), content, limit).map(this.#toEntry);
  }

  /** The answer is kept: for a new file it is asked for twice in a row, for its old name and for its other names. */
  withInode(ino: number): readonly DiskEntry[] {
    const { revision } = this.#database;
    if (this.#atInode?.ino !== ino || this.#atInode.revision !== revision) {
      this.#atInode = { ino, revision, entries: this.#withInode.all(ino).map(this.#toEntry) };
    }
    return this.#atInode.entries;
  }

  unsynced(after = 0): UnsyncedRows {
    const mark = this.#currentGeneration();
    const unsynced = this.#unsynced.all();
    const later = unsynced.filter((row) => row.mark > after);
    const paths = new Set([...later, ...this.#dirty.all()].map(({ path }) => path));
    if (unsynced.length + paths.size > 0) this.#generation = mark + 1;
    return { mark, paths: [...paths], hasEarlier: later.length < unsynced.length };
  }

  synced(after: number, mark: number, span: SyncSpan): void {
    const { upToMs, aboveMs } = cleanedBy(span);
    // If a power cut undoes it, it is done again: no row claims too much.
    this.#database.relaxedTransaction(() => {
      const synced = this.#synced.run(after, mark);
      if (synced > 0) {
        this.#database.revision += 1;
        this.#unsyncedDirectories.forget();
      }
      if (synced + this.#cleaned.run(mark, upToMs, aboveMs) > 0) this.forget();
    });
  }

  unconfirmed(path: string): readonly string[] {
    const { from, to } = rangeBelow(path);
    const below = this.#unconfirmedBelow.all(from, to).map((row) => row.path);
    return this.at(path)?.unconfirmed === undefined ? below : [path, ...below];
  }

  clean(after: string | undefined, limit: number): readonly DiskEntry[] {
    return this.#clean.all(after ?? '', limit).map(this.#toEntry);
  }

  remoteBelow(directory: string, after: string | undefined, limit: number): readonly DiskEntry[] {
    const { from, to } = rangeBelow(directory);
    return this.#remoteBelow.all(after === undefined ? from : successor(after), to, limit).map(this.#toEntry);
  }

  remoteChildren(directory: string, after: string | undefined, limit: number): readonly DiskEntry[] {
    return this.#childrenOf(this.#remoteBelow, directory, { after, limit });
  }

  #childrenOf(
    below: Statement<DiskRow>,
    directory: string,
    { after, limit }: { readonly after: string | undefined; readonly limit: number },
  ): readonly DiskEntry[] {
    const children: DiskEntry[] = [];
    for (const row of directChildren(directory, below.all.bind(below), after)) {
      children.push(this.#toEntry(row));
      if (children.length >= limit) break;
    }
    return children;
  }

  confirmed(rows: readonly DiskEntry[]): void {
    this.#database.relaxedTransaction(() => this.#confirmEach(rows));
  }

  #confirmEach(rows: readonly DiskEntry[]): void {
    for (const row of rows) {
      const { path, fingerprint } = row;
      const content = contentRead(row);
      if (content === undefined || fingerprint === undefined) continue;
      const { ino, size, mtimeMs, ctimeMs } = fingerprint;
      this.#confirmed.run(path, content, ino, size, mtimeMs, ctimeMs);
      this.#kept.delete(path);
      this.#atInode = undefined;
    }
  }

  /** Rows of an earlier run have lower values than all rows of this one. */
  #currentGeneration(): number {
    this.#generation ??= (this.#lastGeneration.get()?.last ?? 0) + 1;
    return this.#generation;
  }

  /** They are few; the whole table is searched for them once. */
  damaged(): readonly DiskEntry[] {
    this.#damagedPaths ??= new Set(this.#allDamaged.all().map(({ path }) => path));
    const entries: DiskEntry[] = [];
    for (const path of [...this.#damagedPaths].sort()) {
      const entry = this.at(path);
      if (entry?.damaged) entries.push(entry);
      else this.#damagedPaths.delete(path);
    }
    return entries;
  }

  record(changes: readonly DiskChange[]): void {
    if (changes.length === 0) return;
    this.#database.transaction(() => {
      for (const change of changes) this.#write(change);
    });
  }

  #write({ path, entry }: DiskChange): void {
    if (isMemberPath(path)) throw new Error(`The path ${path} has no place on the disk.`);
    if (entry?.remote) this.#beforeRemote?.(path);
    const before = this.shown(path);
    const contents = this.#watcher && ([contentHere(this.at(path)), contentHere(entry)] as const);
    const after = this.#store(path, entry);
    this.#count(before, after);
    if (contents !== undefined && contents[0] !== contents[1]) this.#watcher?.changed(path, ...contents);
    this.#follower?.(path, { before, after });
  }

  /** Sets what is called after each row that was written. */
  follow(follower: (path: string, change: ShownChange) => void): void {
    this.#follower = follower;
  }

  watch(watcher: ContentWatcher): void {
    this.#watcher = watcher;
  }

  /** Computes the totals of the disk again from its rows. */
  recount(): void {
    Object.assign(this.#totals.change(), this.#counted.get());
  }

  #count(before: Shown | undefined, after: Shown | undefined): void {
    if (before?.mode === after?.mode && before?.size === after?.size) return;
    const totals = this.#totals.change();
    count(totals, before, -1);
    count(totals, after, 1);
  }

  /** Writes or removes the row and returns the state of the path after it. */
  #store(path: string, entry: DiskChange['entry']): Shown | undefined {
    if (entry === undefined) {
      this.#database.revision += 1;
      this.#remove.run(path);
      this.#kept.set(path, null);
      this.#unsyncedDirectories.removed(path);
      return undefined;
    }
    const { dot, content, fingerprint, racy, unconfirmed, damaged, found, cut, remote } = entry;
    const unsynced = entry.unsynced || (fingerprint !== undefined && this.#unsyncedDirectories.areAbove(path));
    const isUnsyncedDirectory = unsynced && fingerprint !== undefined && isDirectoryMode(fingerprint.mode);
    const before = isUnsyncedDirectory ? this.at(path) : undefined;
    if (damaged) this.#damagedPaths?.add(path);
    const origin = this.#origins.number(dot.origin);
    const key = contentKey(content);
    this.#database.revision += 1;
    this.#upsert.run(
      path,
      origin,
      dot.seq,
      content ?? null,
      key,
      fingerprint?.ino ?? null,
      fingerprint?.size ?? null,
      fingerprint?.mtimeMs ?? null,
      fingerprint?.ctimeMs ?? null,
      fingerprint?.mode ?? null,
      fingerprint?.birthMs ?? null,
      racy === undefined ? null : Number(racy),
      unsynced ? this.#currentGeneration() : null,
      unconfirmed === undefined ? null : unconfirmed === 'clean' ? 0 : this.#currentGeneration(),
      damaged ? (found ?? 1) : null,
      damaged && cut ? 1 : null,
      remote ? 1 : null,
    );
    const now = asStored(path, { ...entry, unsynced });
    const marked = this.#unsyncedDirectories.written({ before, now, mark: () => this.#currentGeneration() });
    if (marked > 0) this.forget();
    this.#kept.set(path, now);
    return shownOf(entry, origin, key);
  }

  readonly #toEntry = (row: DiskRow): DiskEntry => fromDiskRow(row, this.#origins);
}

/** The content of the file that a row shows. */
function contentHere(entry: DiskChange['entry']): ContentId | undefined {
  return entry?.fingerprint === undefined ? undefined : entry.content;
}

function count(totals: DiskTotals, shown: Shown | undefined, by: 1 | -1): void {
  if (shown === undefined || shown.mode === null) return;
  if (isDirectoryMode(shown.mode)) totals.disk_directories += by;
  if (!isFileMode(shown.mode)) return;
  totals.disk_files += by;
  totals.disk_bytes += by * (shown.size ?? 0);
}
