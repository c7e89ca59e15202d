import type { ContentId } from '@lockstep/shared';
import type { SyncSpan } from '../../core/confirmation.ts';
import type { DiskChange, DiskEntry } from '../../core/entry.ts';
import type { PackedFiles } from '../../core/packed-files.ts';

/** Rows of `disk` for users' changes that are not known to be durable, or that may continue without an event (`dirty`). */
export interface UnsyncedRows {
  /** Grows with each call: rows that are written later have a higher mark. */
  readonly mark: number;
  readonly paths: readonly string[];
  /** There are also rows that became `unsynced` up to the mark `after`. */
  readonly hasEarlier: boolean;
}

/** Follows the contents of the files on the disk. */
export interface ContentWatcher {
  /** The row at the path was written, in a transaction that is not committed yet: the contents of its file before and now. */
  changed(path: string, before: ContentId | undefined, now: ContentId | undefined): void;
  /** A transaction was rolled back: rows that `changed` named may be as before. Must not call the journal. */
  rolledBack(): void;
}

/** The entry that this member last wrote or saw at each path. */
export interface DiskTable {
  at(path: string): DiskEntry | undefined;
  /** Rows of existing entries directly in `directory` (`''`: the folder), by path, after `after`. */
  children(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** Rows of existing entries anywhere below `directory`, by path, after `after`. */
  below(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** Rows below `directory` of files whose content is on other members only (`remote`), by path, after `after`. */
  remoteBelow(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** As `remoteBelow`, of those directly in `directory`. */
  remoteChildren(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** Rows of existing files that hold `content`, at most `limit`. */
  withContent(content: ContentId, limit: number): readonly DiskEntry[];
  /** Rows of existing entries with this inode number. */
  withInode(ino: number): readonly DiskEntry[];
  /** Rows of damaged entries, by path. Must not be called within a transaction. */
  damaged(): readonly DiskEntry[];
  record(changes: readonly DiskChange[]): void;
  /** Sets the one watcher of the contents. */
  watch(watcher: ContentWatcher): void;
  /** The rows that became `unsynced` after the mark `after`, and the `dirty` rows. */
  unsynced(after?: number): UnsyncedRows;
  /**
   * Records a successful sync that began after `mark` was given: rows marked after `after` and up to `mark` are no longer `unsynced`. Those up
   * to `mark` that did not change during `span` become `clean`, also if an earlier sync failed: the system has dropped their pages since.
   */
  synced(after: number, mark: number, span: SyncSpan): void;
  /** Paths of the unconfirmed rows at `path` and below it (`''`: all). */
  unconfirmed(path: string): readonly string[];
  /** Rows that are `clean`, by path, after `after`. */
  clean(after: string | undefined, limit: number): readonly DiskEntry[];
  /** Removes the `clean` state from those of these rows that have not changed: their files were read again and match the rows. */
  confirmed(rows: readonly DiskEntry[]): void;
}

/** The files on the disk, with their fingerprints as recorded: what the poll for changes compares. */
export interface FingerprintTable {
  /** The files at these paths. */
  at(paths: readonly string[]): PackedFiles;
  /** The files after `path` in path order, or from the first. */
  after(path: string | undefined, limit: number): PackedFiles;
}
