import { renameSync, rmSync } from 'node:fs';
import type Sqlite from 'better-sqlite3';
import { SqliteDatabase } from '../os/sqlite.ts';
import { keepIndexInMemory } from '../os/wal-index.ts';
import type { Log } from '../sync/ports/log.ts';

/** The version of the tables. A change of them needs a step from the version before. */
const schemaVersion = 1;

/** The time for which another process may hold the file. The agent's thread waits as long. */
const busyTimeoutMs = 200;

const schema = `
CREATE TABLE spans (
  member TEXT NOT NULL, began INTEGER NOT NULL, ended INTEGER NOT NULL, condition TEXT NOT NULL, PRIMARY KEY (member, began)
) STRICT, WITHOUT ROWID;
CREATE TABLE pairs (
  id INTEGER PRIMARY KEY, source TEXT NOT NULL, target TEXT NOT NULL, UNIQUE (source, target)
) STRICT;
CREATE TABLE latency (
  grain INTEGER NOT NULL, pair INTEGER NOT NULL, at INTEGER NOT NULL,
  least INTEGER, sum INTEGER NOT NULL, most INTEGER, count INTEGER NOT NULL,
  PRIMARY KEY (grain, pair, at)
) STRICT, WITHOUT ROWID;
CREATE TABLE events (
  number INTEGER PRIMARY KEY, at INTEGER NOT NULL, kind TEXT NOT NULL, member TEXT NOT NULL, data TEXT NOT NULL
) STRICT;
CREATE INDEX events_of_member ON events (member, number);
CREATE TABLE kept (
  name TEXT PRIMARY KEY, data TEXT NOT NULL
) STRICT, WITHOUT ROWID;
`;

/**
 * Opens `health.db`: what happened to the members, and what people were told. It is a file of its own, so that it neither slows nor fills
 * the journal. A file that is damaged, or of a later version, is put aside and a new one begun: nothing else depends on it.
 */
export function openHealthDatabase(path: string, log: Log): Sqlite.Database {
  try {
    return open(path);
  } catch (error) {
    log.warn(
      { path, error: String(error) },
      'health.db cannot be used: it is put aside, and a new history of health begins',
    );
  }
  for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
  try {
    renameSync(path, `${path}.unusable`);
    return open(path);
  } catch (error) {
    log.warn(
      { path, error: String(error) },
      'health.db cannot be made: the history of health is lost when the agent ends',
    );
    return open(':memory:');
  }
}

function open(path: string): Sqlite.Database {
  const database = new SqliteDatabase(path, { timeout: busyTimeoutMs });
  try {
    if (path !== ':memory:') {
      keepIndexInMemory(database, path);
      database.pragma('journal_mode = WAL');
      // A power cut may take the last minutes. No commit waits for the disk.
      database.pragma('synchronous = NORMAL');
      database.pragma('cache_size = -2048');
      if (database.pragma('quick_check(1)', { simple: true }) !== 'ok') throw new Error('it is damaged');
    }
    const version = Number(database.pragma('user_version', { simple: true }));
    if (version > schemaVersion) throw new Error(`it is of version ${version}, and this agent reads ${schemaVersion}`);
    if (version === 0) {
      database.transaction(() => {
        database.exec(schema);
        database.pragma(`user_version = ${schemaVersion}`);
      })();
    }
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}
