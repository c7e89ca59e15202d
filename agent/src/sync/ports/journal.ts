import type { Applied, ContentId, Dot, Operation, OriginId, VersionVector } from '@lockstep/shared';
import type { DiskTable, FingerprintTable } from './disk-table.ts';
import type { ConflictCopyTable, HeadTable, MemberTable, TotalsTable, TreeTable } from './head-tables.ts';

export type { DiskChange, DiskEntry, PendingPath } from '../../core/entry.ts';
export type { ContentWatcher } from './disk-table.ts';

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

/** The operations, in order of arrival. */
export interface LogTable {
  /** The number of operations; also the row of the last one. */
  length(): number;
  /** The highest contiguous number of each origin in the log. */
  known(): VersionVector;
  operation(dot: Dot): Operation | undefined;
  /** Operations of one origin after `after`, in order, at most `limit`. The last answers are kept, for readers at the same place. */
  operationsOf(origin: OriginId, after: number, limit: number): readonly Operation[];
  /** Everything in the log beyond `known`, origin by origin, in batches of at most `limit`; lazily. */
  operationsBeyond(known: VersionVector, limit: number): IterableIterator<readonly Operation[]>;
  rows(query: LogQuery): readonly LogRow[];
  /** An operation and the time at which it was journaled here. */
  row(dot: Dot): LogRow | undefined;
  /** True if the log holds an operation at `path` with this content or this link target. */
  everHad(path: string, entry: Pick<Operation, 'content' | 'target'>): boolean;
  /** The operations at `path` with this stamp: more than one only if several members made one at the same moment. */
  stamped(path: string, hlc: number): readonly Operation[];
  /** The newest operation at `path` with this content, if any. */
  operationWith(path: string, content: ContentId): Operation | undefined;
  /**
   * The first 64 bits, in hexadecimal digits, of the running hash over the origin's operations up to number `seq`. Undefined if
   * the log ends below that number.
   */
  mark(origin: OriginId, seq: number): string | undefined;
  /** The marks of all known origins, as they are sent (core/marks). */
  marks(): Uint8Array;
}

/** The origins that end because their log forked. */
export interface SealTable {
  /** The sealed origins, each with its last number. */
  all(): VersionVector;
}

/** An operation whose author had another operation under a number of another origin than this log has. */
export interface Contradiction {
  /** The number. */
  readonly named: Dot;
  /** The operation that names it. */
  readonly by: Dot;
}

/** The marks that operations name of other origins' logs. */
export interface NamedMarkTable {
  /** The numbers for which an operation names another mark than this log has, and that are within their seal. Empty nearly always. */
  contradictions(): readonly Contradiction[];
}

/** An event for people. Events are numbered without gaps, so that a reader can resume. */
export interface JournalEvent {
  readonly number: number;
  readonly at: number;
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The last use of a file on a member that fetches contents on demand. */
export interface StoredUse {
  readonly path: string;
  /** Grows with each use. */
  readonly number: number;
  /** The worth of the file to the cache, and the highest credit at which a file was dropped until then. */
  readonly credit: number;
  readonly inflation: number;
}

/** The last acknowledgement of each other member. */
export interface AckTable {
  /** Saves the last applied vector that another member sent, so that it is known while that member is down. */
  save(member: string, applied: Applied): void;
  all(): Readonly<Record<string, Applied>>;
}

/** Messages for people. */
export interface EventTable {
  add(at: number, kind: string, data: Readonly<Record<string, unknown>>): JournalEvent;
  /** Events numbered after `after`, oldest first. */
  after(after: number, limit: number): readonly JournalEvent[];
  lastNumber(): number;
}

/** Settings of this member, by name. They survive a restart. */
export interface SettingTable {
  get(name: string): string | undefined;
  set(name: string, value: string): void;
  /** As `set`, but without waiting for the disk: survives a crash of the agent, but not always a power cut. */
  note(name: string, value: string): void;
}

/** The last uses of files, on a member that fetches contents on demand. */
export interface UseTable {
  /** The files that were used last, the oldest use first. */
  all(): readonly StoredUse[];
  /** Stores the last uses of files, and forgets those of others, without waiting for the disk. */
  note(used: readonly StoredUse[], forgotten: readonly string[]): void;
}

/**
 * The operation log and the state derived from it. All calls are synchronous. Each write is a transaction of its own
 * unless `transaction` encloses it. A committed write survives a power cut, with one exception: operations of other members may
 * be lost until the next write of another kind. They are then received again.
 */
export interface Journal {
  /** The origin of this journal's own operations. Each new journal draws another one at random. */
  readonly origin: OriginId;
  /** Begins a new incarnation, because operations that this journal has lost may have taken numbers of the present one. */
  renewOrigin(): void;

  readonly log: LogTable;
  readonly seals: SealTable;
  readonly namedMarks: NamedMarkTable;
  readonly heads: HeadTable;
  readonly members: MemberTable;
  readonly conflictCopies: ConflictCopyTable;
  readonly tree: TreeTable;
  readonly disk: DiskTable;
  readonly fingerprints: FingerprintTable;
  readonly totals: TotalsTable;
  readonly acks: AckTable;
  readonly events: EventTable;
  readonly settings: SettingTable;
  readonly uses: UseTable;

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

  /** The operations that are known, applied and durable: see `Applied`. Live siblings that lost count as not applied until they are superseded. */
  applied(): Applied;

  /** Replays the log from the beginning and returns the paths whose heads differ from the stored ones. `repair`: replaces these heads. */
  verifyHeads(repair: boolean): { readonly compared: number; readonly differing: readonly string[] };
  /** Drops cached values that were not used since the last call. Regular calls bound the memory of a member at rest. */
  ageCaches(): void;
  close(): void;
}
