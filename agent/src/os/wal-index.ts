import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type Sqlite from 'better-sqlite3';

/** The numbers of file systems that write each page to a new place, by statfs(2): btrfs, ZFS, bcachefs. */
const copyOnWrite: ReadonlySet<number> = new Set([0x91_23_68_3e, 0x2f_c1_2f_c1, 0xca_45_1a_4e]);

/**
 * Keeps the index of the write-ahead log of `database`, a file at `path`, in memory where a store into a mapped file may need room. SQLite
 * maps the index otherwise: on a full disk, or with a full quota, the kernel then ends a process that stores into it (SIGBUS). No other
 * connection can read the database. To be called before the first read.
 */
export function keepIndexInMemory(database: Sqlite.Database, path: string): void {
  if (copyOnWrite.has(statfsSync(dirname(path)).type)) database.pragma('locking_mode = EXCLUSIVE');
}
