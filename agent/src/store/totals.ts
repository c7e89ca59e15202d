import { type Digest, emptyDigest, formatDigest } from '../core/digest.ts';
import type { JournalCounts, TotalsTable } from '../sync/ports/head-tables.ts';
import type { JournalDatabase } from './database.ts';
import type { Statement } from './statement.ts';

/** The digest and the counts over all heads, and the counts over the disk. */
export interface Totals extends HeadTotals, DiskTotals {}

/** The sums over the heads. */
export interface HeadTotals {
  digest: Digest;
  files: number;
  directories: number;
  bytes: number;
  pending: number;
  contested: number;
  /** Bytes of the files whose content is not at its path. */
  missing_bytes: number;
}

/** The sums over the rows of `disk`: the entries that are in place. */
export interface DiskTotals {
  disk_files: number;
  disk_directories: number;
  disk_bytes: number;
}

interface TotalsRow extends Omit<Totals, 'digest'> {
  readonly digest_hi: number;
  readonly digest_lo: number;
}

/** The totals of no heads at all. */
export function noHeads(): HeadTotals {
  return { digest: emptyDigest, files: 0, directories: 0, bytes: 0, pending: 0, contested: 0, missing_bytes: 0 };
}

/** The one row of `totals`: read once, changed in memory, written once in each transaction that changed it. */
export class TotalsStore implements TotalsTable {
  readonly #database: JournalDatabase;
  readonly #select: Statement<TotalsRow>;
  readonly #update: Statement;
  #value: Totals | undefined;
  #changed = false;

  constructor(database: JournalDatabase) {
    this.#database = database;
    this.#select = database.statement('SELECT * FROM totals');
    this.#update = database.statement(
      `UPDATE totals SET digest_hi = ?, digest_lo = ?, files = ?, directories = ?, bytes = ?, pending = ?, contested = ?,
         missing_bytes = ?, disk_files = ?, disk_directories = ?, disk_bytes = ?`,
    );
    database.addHook({
      beforeCommit: () => this.#write(),
      afterRollback: () => {
        this.#value = undefined;
        this.#changed = false;
      },
    });
  }

  get(): Readonly<Totals> {
    return this.#loaded();
  }

  counts(): JournalCounts {
    const { files, directories, bytes, pending, contested, ...rest } = this.#loaded();
    const disk = { files: rest.disk_files, directories: rest.disk_directories, bytes: rest.disk_bytes };
    return { files, directories, bytes, pending, contested, missingBytes: rest.missing_bytes, disk };
  }

  digest(): string {
    return formatDigest(this.#loaded().digest);
  }

  /** The totals, to be changed in place, within a transaction. */
  change(): Totals {
    this.#changed = true;
    this.#database.revision += 1;
    return this.#loaded();
  }

  #write(): void {
    if (!this.#changed) return;
    const { digest, files, directories, bytes, pending, contested, ...rest } = this.#loaded();
    const { missing_bytes, disk_files, disk_directories, disk_bytes } = rest;
    const heads = [digest.hi, digest.lo, files, directories, bytes, pending, contested, missing_bytes];
    this.#update.run(...heads, disk_files, disk_directories, disk_bytes);
    this.#changed = false;
  }

  #loaded(): Totals {
    if (this.#value) return this.#value;
    const row = this.#select.get();
    if (row === undefined) throw new Error('The journal has no row of totals.');
    const { digest_hi: hi, digest_lo: lo, ...counts } = row;
    this.#value = { digest: { hi, lo }, ...counts };
    return this.#value;
  }
}
