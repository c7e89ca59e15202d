import { existsSync, rmSync, statSync } from 'node:fs';
import { JOURNAL_VERSION } from '@lockstep/shared';
import Sqlite from 'better-sqlite3';
import { damaged, newer, translated } from './journal-error.ts';
import { applicationId, migrationsFrom } from './migrations.ts';
import { Statement } from './statement.ts';

/** How long a statement waits for another process (a command that reads) to let go of the file. */
const busyTimeoutMs = 5_000;

/** Page cache: bounds the journal's share of the agent's memory whatever the number of files. */
const cacheBytes = 8 * 1_048_576;

/**
 * Pages in the write-ahead log after which a commit copies them into the database: 16 MiB. Batches of a thousand operations
 * touch the same index pages again and again, so a longer log saves writes; the copying stays within some tens of milliseconds.
 */
const checkpointPages = 4_000;

/** A log that grew beyond this behind a long reader is cut again. */
const logBytesMax = 64 * 1_048_576;

/** What must happen with state that is kept in memory beside the database. */
export interface TransactionHook {
  /** The last chance to write before the commit. */
  beforeCommit?(): void;
  /** The database went back to what it was before: forget what was derived from it. */
  afterRollback(): void;
}

/** One connection to the journal's file: pragmas, schema, transactions and errors in one place. */
export class JournalDatabase {
  readonly path: string;
  /** Grows with every change and every rollback, so that what was computed from the database can tell that it is stale. */
  revision = 0;
  readonly #sqlite: Sqlite.Database;
  readonly #inFile: boolean;
  readonly #hooks: TransactionHook[] = [];
  readonly #begin: Statement;
  readonly #commit: Statement;
  readonly #rollback: Statement;
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
    } catch (error) {
      this.#sqlite.close();
      // Half a new one, on a full disk, would be taken for one that was emptied.
      if (isNew) for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
      throw translated(path, error);
    }
  }

  /** A statement of this database. It is compiled when it is first used: opening a journal must be cheap. */
  statement<Row = unknown>(sql: string): Statement<Row> {
    return new Statement<Row>(this.#sqlite, this.path, sql);
  }

  addHook(hook: TransactionHook): void {
    this.#hooks.push(hook);
  }

  /**
   * Runs `body` in one transaction; nested calls join the outer one. A throw rolls everything back, also when the throw
   * came out of a nested call and was caught outside it: half of a nested body's writes must not be committed.
   */
  transaction<T>(body: () => T): T {
    return this.#inTransaction ? this.#nested(body) : this.#outermost(body);
  }

  /**
   * A transaction that survives the death of the process, but that a power cut may undo: it does not wait for the disk.
   * For what is stale a moment later and told again anyway.
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

  close(): void {
    this.#sqlite.close();
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
      // SQLite rolls back by itself on a full disk or an I/O error.
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

/** Throws when the file is there and empty: SQLite would begin a new database in it without a word. */
export function refuseEmptied(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.size === 0) throw damaged(path, 'it is empty');
}

function open(path: string): Sqlite.Database {
  refuseEmptied(path);
  try {
    return new Sqlite(path, { timeout: busyTimeoutMs });
  } catch (error) {
    throw translated(path, error);
  }
}

/** The schema's version, 0 for a file that nothing was written to yet. Throws when the file is not a journal this software reads. */
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
