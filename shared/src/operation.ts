import type { ContentId, MemberId, OriginId } from './ids.ts';

/** The id of an operation: its origin, and its contiguous number there, from 1. */
export interface Dot {
  readonly origin: OriginId;
  readonly seq: number;
}

/** The highest sequence number known for each origin; an absent origin counts as 0. */
export type VersionVector = Readonly<Record<OriginId, number>>;

/**
 * The set of operations on one path that an operation supersedes, itself included: every dot up to `vector`, except those in `except`. The
 * exceptions make it exact. An edit made while the path has an older sibling of the same origin supersedes only the sibling that was on the
 * editor's disk. (Version vectors with exceptions: Malkhi and Terry, "Concise Version Vectors in WinFS", DISC 2005.)
 */
export interface Version {
  readonly vector: VersionVector;
  readonly except?: readonly Dot[];
}

/** The kinds of operations. `member` operations form the member list; their path is `memberPath(id)`, which no file can have. */
export type OperationKind = 'put' | 'mkdir' | 'symlink' | 'attr' | 'delete' | 'member';

/** The type of the entry at a path while an operation is its head. */
export type EntryType = 'file' | 'directory' | 'symlink' | 'absent' | 'member';

/** On at least how many members the contents of the files that match a pattern are kept. */
export interface CopiesRule {
  /** A line of gitignore(5); empty for all files that no pattern matches. */
  readonly pattern: string;
  /** `all`: on all members with the whole folder, which is the default. null: a person removed the rule. */
  readonly copies: number | 'all' | null;
  /** When a person set it, in milliseconds since the epoch. Of several rules for a pattern the last one holds. */
  readonly at: number;
}

/** A member's description of itself in a `member` operation. */
export interface MemberRecord {
  readonly id: MemberId;
  readonly name: string;
  /** `host:port` addresses at which it listens, best first. */
  readonly addresses: readonly string[];
  readonly membership: 'joined' | 'left';
  /** A person said that its machine is off at times, as a laptop is. Absent if not, so that records of earlier versions keep their text. */
  readonly mayBeAway?: true | undefined;
  /** It knows all entries, and has the contents of some files only. Absent if it has the whole folder. */
  readonly onDemand?: true | undefined;
  /** Bytes of copies that it takes, for a member that fetches contents on demand. Absent until it knows that. */
  readonly room?: number | undefined;
  /** The rules that persons set at this member. The cluster's rules are those of all records together. */
  readonly copies?: readonly CopiesRule[] | undefined;
}

/**
 * One change to one path by one member. Every operation describes the whole resulting entry: an `attr` of a file repeats its content id. So
 * the head of a path is complete without earlier operations.
 */
export interface Operation {
  readonly origin: OriginId;
  readonly seq: number;
  /** Hybrid logical clock stamp: milliseconds since the epoch × 1024 + counter. */
  readonly hlc: number;
  readonly kind: OperationKind;
  /** Relative to the folder, `/` between components, no leading slash. */
  readonly path: string;
  readonly version: Version;
  /** Files only. */
  readonly content?: ContentId;
  /** The content id that the path had before, if any. */
  readonly replaced?: ContentId;
  /** Bytes; files only. */
  readonly size?: number;
  /** Permission bits (07777); files and directories. */
  readonly mode?: number;
  /** Microseconds since the epoch; files and symbolic links. Node can set no finer time. */
  readonly mtimeUs?: number;
  /** Symbolic links only: the link's text. */
  readonly target?: string;
  /** The path this entry was renamed from; the delete of that path is an operation of its own. */
  readonly from?: string;
  /** `seq` of the first operation of the group (a rename of a directory, an unpacked archive) it belongs to; same origin. */
  readonly group?: number;
  /** On the first operation of a rename: the number of operations in it, this one included. */
  readonly span?: number;
  /** Files of more than one block: the 32-byte BLAKE3 hashes of its 1 MiB blocks, joined. */
  readonly blocks?: Uint8Array;
  /** `member` operations only. */
  readonly member?: MemberRecord;
  /**
   * The heads that it replaces and whose content it leaves in place, the visible one first. A join names those that it repeats, an `attr`
   * the one of which it changes mode or time. No other operation has this field.
   */
  readonly keeps?: readonly Dot[];
  /**
   * The operations that the author had under the numbers of the version: for each other origin in it, in the order of their ids, the first
   * 8 bytes of its chain hash there. Zeros where the author had no such operation. Absent if the version names no other origin.
   */
  readonly marks?: Uint8Array;
}

/** An operation as it is sent, with the file's bytes if they are few enough. */
export interface CarriedOperation {
  readonly operation: Operation;
  readonly bytes?: Uint8Array;
}

/** The type of the entry once `operation` is the head. */
export function entryType(operation: Operation): EntryType {
  switch (operation.kind) {
    case 'put':
      return 'file';
    case 'mkdir':
      return 'directory';
    case 'symlink':
      return 'symlink';
    case 'delete':
      return 'absent';
    case 'member':
      return 'member';
    case 'attr':
      return operation.content === undefined ? 'directory' : 'file';
  }
}

/** True unless the operation is a delete. */
export function isLive(operation: Operation): boolean {
  return operation.kind !== 'delete';
}

/** The dot as text, for maps, messages and logs. */
export function dotKey(dot: Dot): string {
  return `${dot.origin}:${dot.seq}`;
}
