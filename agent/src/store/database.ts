import { existsSync, lstatSync, rmSync } from 'node:fs';
import { JOURNAL_VERSION, LockstepError } from '@lockstep/shared';
import type Sqlite from 'better-sqlite3';
import { SqliteDatabase } from '../os/sqlite.ts';
import { keepIndexInMemory } from '../os/wal-index.ts';
import { damaged, forbidden, newer, translated } from './journal-error.ts';
import { JournalPlace } from './journal-place.ts';
import { applicationId, migrationsFrom } from './migrations.ts';
import { Statement } from './statement.ts';

/** The time that a statement waits for another process (a command that reads) to release the file. */
const busyTimeoutMs = 5_000;

/** The size of the page cache: bounds the journal's share of the agent's memory whatever the number of files. */
const cacheBytes = 8 * 1_048_576;

/**
 * The number of pages in the write-ahead log after which a commit copies them into the database: 16 MiB. Batches of a thousand operations
 * write the same index pages repeatedly, so a longer log saves writes; the copying still takes only some tens of milliseconds.
 */
const checkpointPages = 4_000;

/** The size to which a log is truncated that grew beyond it during a long read. */
const logBytesMax = 64 * 1_048_576;

/** Callbacks for state that is kept in memory in addition to the database. */
export interface TransactionHook {
  /** The last chance to write before the commit. */
  beforeCommit?(): void;
  /** The database was rolled back: drop all that was derived from it. */
  afterRollback(): void;
}

/** One connection to the journal's file: pragmas, schema, transactions and errors in one place. */
export class JournalDatabase {
  readonly path: string;
  /** Grows with every change and every rollback, so that a value computed from the database can be known to be stale. */
  revision = 0;
  /** Called once, with the first error of the disk. */
  diskFailed: ((error: LockstepError) => void) | undefined;
  readonly #sqlite: Sqlite.Database;
  readonly #inFile: boolean;
  readonly #hooks: TransactionHook[] = [];
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
  /** Undefined for a journal in memory. */
  #place: JournalPlace | undefined;
  #inTransaction = false;
  #failure: { readonly error: unknown } | undefined;

  /** Opens or creates the journal at `path`, or one in memory. Throws `journal-damaged` and `journal-newer`. */
  constructor(path: string) {
    this.path = path;
    this.#inFile = path !== ':memory:';
    const isNew = this.#inFile && !existsSync(path);
    this.#sqlite = open(path);
    this.#begin = this.statement('BEGIN IMMEDIATE');
    this.#commit = this.statement('COMMIT');
    this.#rollback = this.statement('ROLLBACK');
    try {
      this.#prepareFile();
      if (this.#inFile) this.#place = new JournalPlace(path);
    } catch (error) {
      this.#sqlite.close();
      // A new file that a full disk left empty would look like a journal that was emptied.
      if (isNew) for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
      throw translated(path, error);
    }
  }

  /** A statement of this database. It is compiled at its first use: the journal must open fast. */
  statement<Row = unknown>(sql: string): Statement<Row> {
    return new Statement<Row>(this.#sqlite, sql, (error) => this.#explained(error));
  }

  addHook(hook: TransactionHook): void {
    this.#hooks.push(hook);
  }

  /**
   * Runs `body` in one transaction and returns its result; nested calls join the outer one. A throw rolls everything back, even if it came
   * out of a nested call and was caught outside it. Half of a nested body's writes must not be committed.
   */
  transaction<T>(body: () => T): T {
    return this.#inTransaction ? this.#nested(body) : this.#outermost(body);
  }

  /**
   * A transaction that survives the death of the process, but that a power cut may undo: it does not wait for the disk. For data that is
   * soon stale and comes again anyway.
   */
  relaxedTransaction<T>(body: () => T): T {
    if (this.#inTransaction || !this.#inFile) return this.transaction(body);
    this.#sqlite.exec('PRAGMA synchronous = NORMAL');
    try {
      return this.transaction(body);
    } finally {
      this.#sqlite.exec('PRAGMA synchronous = FULL');
    }
  }

  /** The first file of the journal that was removed or replaced since it was opened. */
  get lost(): string | undefined {
    return this.#place?.lost;
  }

  close(): void {
    this.#place?.putBack(this.#sqlite);
    this.#sqlite.close();
  }

  #explained(error: unknown): unknown {
    const known = translated(this.path, error);
    if (known instanceof LockstepError && known.code === 'journal-disk') {
      this.diskFailed?.(known);
      this.diskFailed = undefined;
    }
    return known;
  }

  #nested<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  #outermost<T>(body: () => T): T {
    this.#begin.run();
    this.#inTransaction = true;
    try {
      const result = body();
      if (result instanceof Promise) throw new Error('The body of a transaction must not be asynchronous.');
      if (this.#failure) throw this.#failure.error;
      for (const hook of this.#hooks) hook.beforeCommit?.();
      this.#commit.run();
      return result;
    } catch (error) {
      // SQLite itself rolls back on a full disk or an I/O error.
      if (this.#sqlite.inTransaction) this.#rollback.run();
      this.revision += 1;
      for (const hook of this.#hooks) hook.afterRollback();
      throw error;
    } finally {
      this.#inTransaction = false;
      this.#failure = undefined;
    }
  }

  #prepareFile(): void {
    const sqlite = this.#sqlite;
    if (this.#inFile) keepIndexInMemory(sqlite, this.path);
    const version = checkHeader(sqlite, this.path);
    if (this.#inFile) {
      sqlite.pragma('journal_mode = WAL');
      sqlite.pragma('synchronous = FULL');
      sqlite.pragma(`wal_autocheckpoint = ${checkpointPages}`);
      sqlite.pragma(`journal_size_limit = ${logBytesMax}`);
      sqlite.pragma('temp_store = MEMORY');
      sqlite.pragma(`cache_size = -${cacheBytes / 1024}`);
      if (version > 0) checkPages(sqlite, this.path);
    }
    sqlite.pragma('foreign_keys = OFF');
    const missing = migrationsFrom(version);
    if (missing.length === 0) return;
    // The schema and its version in one transaction: a crash leaves the old journal or the new one.
    this.transaction(() => {
      for (const sql of missing) sqlite.exec(sql);
      sqlite.pragma(`application_id = ${applicationId}`);
      sqlite.pragma(`user_version = ${JOURNAL_VERSION}`);
    });
  }
}

/**
 * Throws when the entry at `path` is not a file, or is empty: SQLite would silently create a new database in it. A link is refused as well: the
 * room on the disk to which it leads is not watched.
 */
export function refuseUnusable(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isSymbolicLink()) throw forbidden(path, 'it is a symbolic link: put the file itself there');
  if (!stats.isFile()) throw forbidden(path, 'it is not a file');
  if (stats.size === 0) throw damaged(path, 'it is empty');
}

function open(path: string): Sqlite.Database {
  refuseUnusable(path);
  try {
    return new SqliteDatabase(path, { timeout: busyTimeoutMs });
  } catch (error) {
    throw translated(path, error);
  }
}

/** Returns the schema's version, 0 for a new, empty database. Throws when the file is not a journal that this software reads. */
export function checkHeader(sqlite: Sqlite.Database, path: string): number {
  const version = Number(sqlite.pragma('user_version', { simple: true }));
  const application = Number(sqlite.pragma('application_id', { simple: true }));
  const tables = Number(sqlite.prepare('SELECT count(*) FROM sqlite_schema').pluck().get());
  if (application !== applicationId && (tables > 0 || version > 0)) throw damaged(path, 'it is not a Lockstep journal');
  if (application === applicationId && (tables === 0 || version < 1)) throw damaged(path, 'its tables are missing');
  if (version > JOURNAL_VERSION) throw newer(path, version);
  return version;
}

/** Throws when a page of the file is not well-formed. Reads the whole file once. */
export function checkPages(sqlite: Sqlite.Database, path: string): void {
  const answer = String(sqlite.pragma('quick_check(1)', { simple: true }));
  if (answer !== 'ok') throw damaged(path, answer.replaceAll('\n', ' '));
}
