import { type DiskEntry, type Fingerprint, isDirectoryMode, mayBeSameInode } from '../../core/entry.ts';
import { RecentMap } from '../../core/recent-map.ts';

/** Far more than users replace while their other changes wait for a detection. */
const rowsMax = 1_000;

/**
 * The last rows of files and links whose path a user gave to another entry. The entry may still be in the folder: two files that exchange
 * names are found one after the other, and the row of the first name is overwritten by then. They are forgotten when the agent ends.
 */
export class ReplacedRows {
  /** By inode number. */
  readonly #rows = new RecentMap<number, DiskEntry>(rowsMax);

  /** A user's entry with the fingerprint `now` was found at the path of the row. */
  add(row: DiskEntry, now: Fingerprint): void {
    const { fingerprint } = row;
    if (fingerprint === undefined || row.damaged || isDirectoryMode(fingerprint.mode)) return;
    if (mayBeSameInode(fingerprint, now)) return;
    this.#rows.set(fingerprint.ino, row);
  }

  /** The row of an entry that may be the one with this fingerprint. */
  of(fingerprint: Fingerprint): DiskEntry | undefined {
    const row = this.#rows.get(fingerprint.ino);
    return row?.fingerprint && mayBeSameInode(row.fingerprint, fingerprint) ? row : undefined;
  }
}
