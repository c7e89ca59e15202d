import type { Applied, ContentId, Dot, MemberRecord, Operation, OriginId, VersionVector } from '@lockstep/shared';
import type { SyncSpan } from '../../core/confirmation.ts';
import type { DiskChange, DiskEntry, PendingPath } from '../../core/entry.ts';
import type { PackedFiles } from '../../core/packed-files.ts';
import type { ConflictCopies } from './conflict-copies.ts';
import type { TreeQuestions } from './tree.ts';

export type { DiskChange, DiskEntry, PendingPath } from '../../core/entry.ts';

export interface PendingQuery {
  /** `live`: entries to create or change, parents first. `delete`: entries to remove, children first. */
  readonly which: 'live' | 'delete';
  /** Start after this path, in that order. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** Selects rows of the log. */
export interface LogQuery {
  readonly path?: string | undefined;
  /** Only operations at this path or below it. */
  readonly under?: string | undefined;
  /** Only operations that were journaled here after this row number. */
  readonly afterRow?: number | undefined;
  /** Only operations that were journaled here before this row number; the result is then newest first. */
  readonly beforeRow?: number | undefined;
  readonly limit: number;
}

export interface LogRow {
  /** Order of arrival in this journal. */
  readonly row: number;
  readonly operation: Operation;
  /** Milliseconds since the epoch. */
  readonly journaledAt: number;
}

/** An event for people. Events are numbered without gaps, so that a reader can resume. */
export interface JournalEvent {
  readonly number: number;
  readonly at: number;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Rows of `disk` for users' changes that are not known to be durable, or that may continue without an event (`dirty`). */
export interface UnsyncedRows {
  /** Grows with each call: rows that are written later have a higher mark. */
  readonly mark: number;
  readonly paths: readonly string[];
  /** There are also rows that became `unsynced` up to the mark `after`. */
  readonly hasEarlier: boolean;
}

/** The last use of a file on a member that fetches contents on demand. */
export interface StoredUse {
  readonly path: string;
  /** Grows with each use. */
  readonly number: number;
  /** What the file is worth to the cache, and the highest credit at which a file was dropped until then. */
  readonly credit: number;
  readonly inflation: number;
}

export interface JournalCounts {
  /** Live files and directories among the visible heads, and the files' bytes. */
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  readonly operations: number;
  /** Paths whose visible head is not on the disk, and paths with more than one head. */
  readonly pending: number;
  readonly contested: number;
  /** Bytes of the live files among the visible heads whose content is not at its path on the disk. */
  readonly missingBytes: number;
  /** The files and directories that are in place on the disk, and the files' bytes. */
  readonly disk: { readonly files: number; readonly directories: number; readonly bytes: number };
}

/** An operation whose author had another operation under a number of another origin than this log has. */
export interface Contradiction {
  /** The number. */
  readonly named: Dot;
  /** The operation that names it. */
  readonly by: Dot;
}

/** Follows which contents the files on the disk have. */
export interface ContentWatcher {
  /** The row at the path was written, in a transaction that is not committed yet: the contents of its file before and now. */
  changed(path: string, before: ContentId | undefined, now: ContentId | undefined): void;
  /** A transaction was rolled back: rows that `changed` named may be as before. Must not call the journal. */
  rolledBack(): void;
}

/**
 * The operation log and the state derived from it. All calls are synchronous. Each write is a transaction of its own
 * unless `transaction` encloses it. A committed write survives a power cut, with one exception: operations of other members may
 * be lost until the next write of another kind. They are then received again.
 */
export interface Journal extends ConflictCopies, TreeQuestions {
  /** The origin of this journal's own operations. Each new journal draws another one at random. */
  readonly origin: OriginId;
  /** Begins a new incarnation, because operations that this journal has lost may have taken numbers of the present one. */
  renewOrigin(): void;

  /** Runs `body` in one transaction; nested calls join the outer one. A throw rolls everything back. */
  transaction<T>(body: () => T): T;

  /**
   * Adds operations to the log and merges them into the heads (core/merge), in the order given. A known dot is skipped.
   * Throws when an origin's numbers would have a gap. Returns the operations that were new.
   */
  append(operations: readonly Operation[]): readonly Operation[];

  /**
   * Ends `origin` at number `last`, because its log forked above it: operations above `last` are cut off, and none is accepted
   * any more. A seal is only ever lowered. Returns the operations whose entries must be journaled again, so that they are not lost.
   */
  seal(origin: OriginId, last: number): readonly Operation[];
  /** The sealed origins, each with its last number. */
  seals(): VersionVector;
  /** The numbers for which an operation names another mark than this log has, and that are within their seal. Empty nearly always. */
  contradictions(): readonly Contradiction[];
  /**
   * The first 64 bits, in hexadecimal digits, of the running hash over the origin's operations up to number `seq`. Undefined if
   * the log ends below that number.
   */
  mark(origin: OriginId, seq: number): string | undefined;

  /** The marks of all known origins, as they are sent (core/marks). */
  marks(): Uint8Array;

  /** The highest contiguous number of each origin in the log. */
  known(): VersionVector;
  /** The operations that are known, applied and durable: see `Applied`. Live siblings that lost count as not applied until they are superseded. */
  applied(): Applied;
  operation(dot: Dot): Operation | undefined;
  /** Operations of one origin after `after`, in order, at most `limit`. */
  operationsOf(origin: OriginId, after: number, limit: number): readonly Operation[];
  /** Everything in the log beyond `known`, origin by origin, in batches of at most `limit`; lazily. */
  operationsBeyond(known: VersionVector, limit: number): IterableIterator<readonly Operation[]>;
  log(query: LogQuery): readonly LogRow[];
  /** An operation and the time at which it was journaled here. */
  logged(dot: Dot): LogRow | undefined;

  /** The operations at `path` that no other supersedes, the visible one first. Empty if the path never had an operation. */
  heads(path: string): readonly Operation[];
  /** Visible heads at or below `prefix` (`''`: all), by path, after `after`. */
  headsUnder(prefix: string, after: string | undefined, limit: number): readonly Operation[];
  hasLiveBelow(directory: string): boolean;
  /** Paths with more than one head, by path, after `after`. */
  contested(after: string | undefined, limit: number): readonly { path: string; heads: readonly Operation[] }[];
  /** Live visible heads whose parent directory is not a live directory head, by path, after `after`. */
  orphans(after: string | undefined, limit: number): readonly Operation[];
  /** True if the log holds an operation at `path` with this content or this link target. */
  everHad(path: string, entry: Pick<Operation, 'content' | 'target'>): boolean;
  /** The newest operation at `path` with this content, if any. */
  operationWith(path: string, content: ContentId): Operation | undefined;
  /** A head (visible or not) that carries this content, if any. */
  headWithContent(content: ContentId): Operation | undefined;
  /** Combination of all heads (core/digest), 16 hexadecimal digits. */
  digest(): string;
  counts(): JournalCounts;

  /** Paths whose visible head is not on this disk, at most `limit`. To go on, ask again with the last path. */
  pending(query: PendingQuery): readonly PendingPath[];

  disk(path: string): DiskEntry | undefined;
  /** The files on the disk at these paths, with their fingerprints as recorded. */
  filesAt(paths: readonly string[]): PackedFiles;
  /** The files on the disk after `path` in path order, or from the first. */
  filesAfter(path: string | undefined, limit: number): PackedFiles;
  /** Rows of existing entries directly in `directory` (`''`: the folder). */
  diskChildren(directory: string): readonly DiskEntry[];
  /** Rows of existing entries anywhere below `directory`, by path, after `after`. */
  diskBelow(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** Rows below `directory` of files whose content is on other members only (`remote`), by path, after `after`. */
  remoteBelow(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** As `remoteBelow`, of those directly in `directory`. */
  remoteChildren(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** Rows of existing files that hold `content`, at most `limit`. */
  diskWithContent(content: ContentId, limit: number): readonly DiskEntry[];
  /** Rows of existing entries with this inode number. */
  diskWithInode(ino: number): readonly DiskEntry[];
  /** Rows of damaged entries, by path. Must not be called within a transaction. */
  damaged(): readonly DiskEntry[];
  recordDisk(changes: readonly DiskChange[]): void;
  /** Sets the one watcher of the contents in `disk`. */
  watchContents(watcher: ContentWatcher): void;
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

  /** The member list: the visible heads of the member paths. */
  members(): readonly MemberRecord[];

  /** Saves the last applied vector that another member sent, so that it is known while that member is down. */
  saveAck(member: string, applied: Applied): void;
  acks(): Readonly<Record<string, Applied>>;

  addEvent(at: number, kind: string, data: Readonly<Record<string, unknown>>): JournalEvent;
  /** Events numbered after `after`, oldest first. */
  events(after: number, limit: number): readonly JournalEvent[];
  lastEventNumber(): number;

  /** Settings of this member, by name. They survive a restart. */
  setting(name: string): string | undefined;
  setSetting(name: string, value: string): void;
  /** As `setSetting`, but without waiting for the disk: survives a crash of the agent, but not always a power cut. */
  noteSetting(name: string, value: string): void;

  /** The files that were used last, the oldest use first. */
  uses(): readonly StoredUse[];
  /** Stores the last uses of files, and forgets those of others, without waiting for the disk. */
  noteUses(used: readonly StoredUse[], forgotten: readonly string[]): void;

  /** Replays the log from the beginning and returns the paths whose heads differ from the stored ones. `repair`: replaces these heads. */
  verifyHeads(repair: boolean): { readonly compared: number; readonly differing: readonly string[] };
  /** Drops what was cached and not used since the last call: called regularly, it bounds the memory of a member at rest. */
  ageCaches(): void;
  close(): void;
}
