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

/** An operation as `log` shows it. */
export interface LogQuery {
  readonly path?: string | undefined;
  /** Only operations at this path or below it. */
  readonly under?: string | undefined;
  /** Only operations that were journaled here after this row number. */
  readonly afterRow?: number | undefined;
  /** Only operations that were journaled here before this row number (newest first then). */
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

/** Something a person should see; numbered without gaps, so that a reader can resume. */
export interface JournalEvent {
  readonly number: number;
  readonly at: number;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Rows of `disk` that speak of users' changes which are not known to be durable, or may go on without a trace. */
export interface UnsyncedRows {
  /** Grows with each call: rows that are written later have a later mark. */
  readonly mark: number;
  readonly paths: readonly string[];
  /** There are also rows that were `unsynced` before the ones that were asked for. */
  readonly hasEarlier: boolean;
}

export interface JournalCounts {
  /** Live files and directories among the visible heads, and the files' bytes. */
  readonly files: number;
  readonly directories: number;
  readonly bytes: number;
  readonly operations: number;
  /** Paths whose visible head the disk does not show, and paths with more than one head. */
  readonly pending: number;
  readonly contested: number;
}

/**
 * The operation log and what is derived from it (DESIGN 3). All calls are synchronous; each write is a transaction of its own
 * unless `transaction` encloses it. A committed write survives a power cut, but for others'
 * operations: these may be lost by it until the next write of another kind, and are then received again.
 */
export interface Journal extends ConflictCopies, TreeQuestions {
  /** Under which this journal numbers its own operations. Drawn anew with every new journal. */
  readonly origin: OriginId;
  /** Begins a new incarnation: numbers of the present one may be taken by operations that this journal has lost. */
  renewOrigin(): void;

  /** Runs `body` in one transaction; nested calls join the outer one. A throw rolls everything back. */
  transaction<T>(body: () => T): T;

  /**
   * Adds operations to the log and merges them into the heads (core/merge), in the order given. A known dot is skipped.
   * Throws when an origin's numbers would have a gap. Returns the operations that were new.
   */
  append(operations: readonly Operation[]): readonly Operation[];

  /**
   * Ends `origin` at number `last`, because its log forked above it: what the log has of it above that is cut off and counts nowhere, and
   * none is taken any more. A seal is only ever lowered. Returns the operations whose entries must be journaled again, lest they be lost.
   */
  seal(origin: OriginId, last: number): readonly Operation[];
  /** The origins that end, each with its last number. */
  seals(): VersionVector;
  /**
   * The first 64 bits, in hexadecimal digits, of the running hash over the origin's operations up to number `seq`. Undefined where the
   * log does not reach so far.
   */
  mark(origin: OriginId, seq: number): string | undefined;

  /** The marks of all that is known, as they are sent (core/marks). */
  marks(): Uint8Array;

  /** The highest contiguous number of each origin in the log. */
  known(): VersionVector;
  /** What is known, shown and durable: see `Applied`. Live siblings that lost count as not applied until they are superseded. */
  applied(): Applied;
  operation(dot: Dot): Operation | undefined;
  /** Operations of one origin after `after`, in order, at most `limit`. */
  operationsOf(origin: OriginId, after: number, limit: number): readonly Operation[];
  /** Everything in the log beyond `known`, origin by origin, in batches of at most `limit`; lazily. */
  operationsBeyond(known: VersionVector, limit: number): IterableIterator<readonly Operation[]>;
  log(query: LogQuery): readonly LogRow[];
  /** An operation and when it was journaled here. */
  logged(dot: Dot): LogRow | undefined;

  /** The operations at `path` that no other supersedes, the visible one first. Empty when nothing was ever there. */
  heads(path: string): readonly Operation[];
  /** Visible heads at or below `prefix` (`''`: all), by path, after `after`. */
  headsUnder(prefix: string, after: string | undefined, limit: number): readonly Operation[];
  hasLiveBelow(directory: string): boolean;
  /** Paths with more than one head, by path, after `after`. */
  contested(after: string | undefined, limit: number): readonly { path: string; heads: readonly Operation[] }[];
  /** Live visible heads whose parent directory is not a live directory head, by path, after `after`. */
  orphans(after: string | undefined, limit: number): readonly Operation[];
  /** True when the log holds an operation at `path` with this content, or with this link text. */
  everHad(path: string, entry: Pick<Operation, 'content' | 'target'>): boolean;
  /** A head (visible or not) that carries this content, if any. */
  headWithContent(content: ContentId): Operation | undefined;
  /** Combination of all heads (core/digest), 16 hexadecimal digits. */
  digest(): string;
  counts(): JournalCounts;

  /** Paths whose visible head is not on this disk. Streams: ask again from the last path. */
  pending(query: PendingQuery): readonly PendingPath[];

  disk(path: string): DiskEntry | undefined;
  /** The files at these paths that the disk shows, as their rows know them. */
  filesAt(paths: readonly string[]): PackedFiles;
  /** The next files in the order of paths after `path`, or from the first. */
  filesAfter(path: string | undefined, limit: number): PackedFiles;
  /** Rows of entries that exist and lie directly in `directory` (`''`: the folder). */
  diskChildren(directory: string): readonly DiskEntry[];
  /** Rows of entries that exist and lie anywhere below `directory`, by path, after `after`. */
  diskBelow(directory: string, after: string | undefined, limit: number): readonly DiskEntry[];
  /** Rows of files that exist and hold `content`; a few are enough. */
  diskWithContent(content: ContentId, limit: number): readonly DiskEntry[];
  /** Rows of entries that exist and have this inode number. */
  diskWithInode(ino: number): readonly DiskEntry[];
  /** Rows of entries that are damaged, by path. Not to be called within a transaction. */
  damaged(): readonly DiskEntry[];
  recordDisk(changes: readonly DiskChange[]): void;
  /** The rows that are `unsynced` since `after`, and those that are `dirty`. */
  unsynced(after?: number): UnsyncedRows;
  /**
   * A sync that began after `mark` was given has ended: rows marked after `after` and up to `mark` are `unsynced` no more. Those marked up
   * to `mark` that were not changed around that time are `clean`, also where an earlier sync failed: it has let go of their pages.
   */
  synced(after: number, mark: number, span: SyncSpan): void;
  /** Paths of the unconfirmed rows at `path` and below it (`''`: all). */
  unconfirmed(path: string): readonly string[];
  /** Rows that are `clean`, by path, after `after`. */
  clean(after: string | undefined, limit: number): readonly DiskEntry[];
  /** The files of these rows, read again after they were `clean`, are what the rows say: what is still so is certain. */
  confirmed(rows: readonly DiskEntry[]): void;

  /** The member list: the visible heads of the member paths. */
  members(): readonly MemberRecord[];

  /** Another member's applied vector as it last said, kept so that it is known while that member is down. */
  saveAck(member: string, applied: Applied): void;
  acks(): Readonly<Record<string, Applied>>;

  addEvent(at: number, kind: string, data: Readonly<Record<string, unknown>>): JournalEvent;
  /** Events numbered after `after`, oldest first. */
  events(after: number, limit: number): readonly JournalEvent[];
  lastEventNumber(): number;

  /** Small facts of this member that must survive a restart, by name. */
  setting(name: string): string | undefined;
  setSetting(name: string, value: string): void;
  /** As `setSetting`, but without waiting for the disk: the death of the agent does not undo it, and a power cut may. */
  noteSetting(name: string, value: string): void;

  /** Replays the log from nothing and compares: paths whose heads differ from the stored ones. With `repair` the heads are replaced. */
  verifyHeads(repair: boolean): { readonly compared: number; readonly differing: readonly string[] };
  close(): void;
}
