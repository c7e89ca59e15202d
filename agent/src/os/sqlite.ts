import { createRequire } from 'node:module';
import type Library from 'better-sqlite3';

/** The version of Node-API for which better-sqlite3 13 is built. Node 20 has 9, and would end with a segmentation fault. */
const nodeApiNeeded = 10;

/**
 * The version of better-sqlite3 for this Node. The last that Node 20 can load is 12, and from Node 24.19 on that one ends the process when
 * V8 collects a statement (nodejs/node#65446).
 */
export const sqlitePackage =
  Number(process.versions.napi) >= nodeApiNeeded ? 'better-sqlite3' : 'better-sqlite3-node20';

/** Lockstep is installed in a way that cannot run here. */
class InstallationError extends Error {
  override readonly name = 'InstallationError';
}

function load(): typeof Library {
  try {
    return createRequire(import.meta.url)(sqlitePackage) as typeof Library;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.split('\n', 1)[0] : String(cause);
    throw new InstallationError(
      `SQLite for Node ${process.versions.node} cannot be loaded (${reason}). Install Lockstep again with this Node and without ` +
        '--omit=optional; in a clone, run `npm run setup`. Only Node 20 may have to compile it, with python3, make and g++.',
      { cause },
    );
  }
}

/** A connection to an SQLite database, as better-sqlite3 documents it. */
export const SqliteDatabase: typeof Library = load();

/** The error that SQLite gives, with its code as `SQLITE_BUSY`. */
export const { SqliteError } = SqliteDatabase;
