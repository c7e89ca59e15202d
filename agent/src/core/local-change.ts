import type { ContentId, Dot, MemberRecord, Operation, OperationKind } from '@lockstep/shared';
import { carriedTimeUs, entryType, isLive } from '@lockstep/shared';
import {
  contentRead,
  type DiskEntry,
  type Fingerprint,
  isDirectoryMode,
  isSameEntry,
  isSameFingerprint,
  isSameTime,
  isSameWriting,
  mayBeSameInode,
  permissions,
  type Unconfirmed,
} from './entry.ts';
import { covers, supersedes } from './version.ts';

/** A local change on its way to becoming an operation. */
export interface Draft {
  readonly path: string;
  readonly kind: OperationKind;
  readonly content?: ContentId | undefined;
  readonly replaced?: ContentId | undefined;
  readonly size?: number | undefined;
  readonly mode?: number | undefined;
  readonly mtimeUs?: number | undefined;
  readonly target?: string | undefined;
  readonly from?: string | undefined;
  readonly blocks?: Uint8Array | undefined;
  /** The first path of the rename or unpacked tree that it belongs to. */
  readonly groupPath?: string | undefined;
  readonly span?: number | undefined;
  readonly member?: MemberRecord | undefined;
  /** The parents whose content it leaves in place. */
  readonly keeps?: readonly Dot[] | undefined;
  /**
   * Drafts of one unit are journaled together or not at all. A conflict's join without the copy of the losing content would lose that
   * content.
   */
  readonly unit?: string | undefined;
  /** The operations that the user saw: those that the new operation replaces. */
  readonly parents: readonly Operation[];
  readonly fingerprint?: Fingerprint | undefined;
  readonly racy?: boolean | undefined;
  /** The row's mark of the file: a renamed file is as uncertain as it was. */
  readonly unconfirmed?: Unconfirmed | undefined;
  /** This disk shows the delete already. */
  readonly vanished?: boolean | undefined;
  readonly bytes?: Uint8Array | undefined;
  /** The stamp that the entry already has: it is journaled again, and does not become newer. */
  readonly hlc?: number | undefined;
}

/** The state of an entry as a check found it. */
export type Seen =
  | { readonly state: 'absent' }
  | {
      readonly state: 'file';
      readonly fingerprint: Fingerprint;
      readonly mtimeUs: number;
      readonly racy: boolean;
      readonly content: ContentId;
      readonly blocks?: Uint8Array | undefined;
      readonly bytes?: Uint8Array | undefined;
      /** It is not empty, and all its bytes are zeros. Undefined if that is unknown. */
      readonly isZeros?: boolean | undefined;
    }
  | { readonly state: 'directory'; readonly fingerprint: Fingerprint }
  | {
      readonly state: 'symlink';
      readonly fingerprint: Fingerprint;
      readonly mtimeUs: number;
      readonly target: string;
    };

export type LocalChange =
  | { readonly do: 'nothing' }
  /** The entry is what the row says; only its fingerprint changed. */
  | { readonly do: 'refresh'; readonly fingerprint: Fingerprint; readonly racy: boolean }
  /** The disk already shows the visible head: no operation is needed, only the row. */
  | {
      readonly do: 'adopt';
      readonly head: Operation;
      readonly fingerprint: Fingerprint | undefined;
      readonly racy: boolean;
    }
  /**
   * The row is to be removed, so that the live head is pending again. There are five such rows. An entry was passed over and its path is
   * free now. Damage was removed. A directory made room for the file that replaces it. The agent itself removed the entry before a kill:
   * for a directory, or because it was out of date and its path is remote.
   */
  | { readonly do: 'forget' }
  /** The entry is the damage that the row describes; only its fingerprint changed. */
  | { readonly do: 'still-damaged'; readonly fingerprint: Fingerprint }
  /** As `adopt`, but mode or time must first be set to the head's. */
  | { readonly do: 'adopt-attributes'; readonly head: Operation; readonly fingerprint: Fingerprint }
  | { readonly do: 'draft'; readonly draft: Draft };

/** The entry at a path, and the journal's knowledge of it: see `findLocalChange`. */
interface Comparison {
  readonly path: string;
  readonly seen: Seen;
  readonly row: DiskEntry | undefined;
  readonly shown: Operation | undefined;
  readonly head: Operation | undefined;
  readonly journaled: () => readonly Operation[];
  readonly isKept?: boolean | undefined;
  readonly isInterrupted?: boolean | undefined;
  readonly mayHaveRemoved?: boolean | undefined;
  readonly ownDelete?: Operation | undefined;
}

/**
 * Compares the entry at a path with the row of `disk` (never with the heads: rule 1), and makes a draft of the difference. `shown` is the
 * operation of the row. `head` is the visible head. It serves only to notice that the disk has come to show it by other means, such as a
 * user's copy or a lost journal. `journaled` returns the newest operations at the path, and is called only if the head is not the shown
 * operation. `isKept`: the entry of the row would not be lost by a replacement, because history has it or it is no file; so the agent may
 * have replaced it, and been killed before it recorded that. `isInterrupted`: the agent was killed in a batch that was to write at the
 * path. `mayHaveRemoved`: a power cut may have taken the record that the agent removed a file that was out of date. `ownDelete`: a sibling of the head, by which a
 * user deleted the entry here. A remote row says nothing of it.
 */
export function findLocalChange(input: Comparison): LocalChange {
  const { seen, row, head } = input;
  const present = row?.fingerprint !== undefined;
  const ownDelete = row?.remote ? input.ownDelete : undefined;
  // A row without a fingerprint names a live entry only if that is ignored, remote or could not be shown: no user saw it here.
  const shown = present || (input.shown && !isLive(input.shown)) ? input.shown : ownDelete;
  if (seen.state === 'absent') return findRemoval(input, shown);
  const parents = shown ? [shown] : [];
  const replaced = present ? row.content : undefined;
  const { fingerprint } = seen;
  if (row !== undefined && isStillDamaged(row, seen)) return { do: 'still-damaged', fingerprint };
  const racy = seen.state === 'file' && seen.racy;
  const mode = permissions(fingerprint.mode);
  const mtimeUs = seen.state === 'directory' ? undefined : carriedTimeUs(seen.mtimeUs);
  const hasSameTime = (operation: Operation): boolean =>
    mtimeUs === undefined ||
    isSameTime(mtimeUs, operation.mtimeUs ?? 0) ||
    (operation === shown && present && row.fingerprint !== undefined && isLeftTime(seen, row.fingerprint));
  const hasSameMode = (operation: Operation): boolean =>
    operation.mode === mode || (operation === shown && present && row.fingerprint?.mode === fingerprint.mode);
  const matches = (operation: Operation): 'no' | 'content' | 'all' => {
    if (entryType(operation) !== seen.state) return 'no';
    if (seen.state === 'symlink') return operation.target === seen.target ? 'all' : 'no';
    if (seen.state === 'file' && operation.content !== seen.content) return 'no';
    return hasSameMode(operation) && hasSameTime(operation) ? 'all' : 'content';
  };
  // The agent was killed between two steps: it records a file as remote before it removes it, and as shown after it has written it.
  if (row?.remote && ownDelete === undefined && input.shown && matches(input.shown) === 'all') {
    return { do: 'adopt', head: input.shown, fingerprint, racy };
  }
  const matchesShown = shown ? matches(shown) : 'no';
  if (matchesShown === 'all' && present) {
    // The times of a directory change with its entries.
    const isAsRecorded =
      seen.state === 'directory' && row.fingerprint !== undefined && isSameEntry(row.fingerprint, fingerprint);
    return isAsRecorded ? { do: 'nothing' } : { do: 'refresh', fingerprint, racy };
  }
  const matchesHead = head && head !== shown ? matches(head) : 'no';
  // A head whose author did not know of the shown operation does not say that its entry is gone. If the user replaced the entry, an
  // operation must say so; if the agent did, none may. After a delete the entry counts as the user's: otherwise that delete would remove
  // what they put back.
  const isCovered = shown === undefined || (head !== undefined && supersedes(head, shown));
  if (head && matchesHead === 'all' && (isCovered || (present && input.isKept))) {
    return { do: 'adopt', head, fingerprint, racy };
  }
  if (head && matchesHead === 'content' && matchesShown === 'no' && isCovered) {
    return { do: 'adopt-attributes', head, fingerprint };
  }
  const unrecorded = findUnrecorded(
    input,
    shown,
    (operation) => matches(operation) === 'all' && hasSameTime(operation),
  );
  if (unrecorded) return { do: 'adopt', head: unrecorded, fingerprint, racy };
  // An edit of damage supersedes nothing: its author did not see the operation's entry.
  const seenParents = row?.damaged && matchesShown === 'no' ? [] : parents;
  const replacedHere = head && matchesHead === 'all' ? [...seenParents, head] : seenParents;
  const base = { path: input.path, parents: replacedHere, fingerprint, racy, mode, mtimeUs, replaced };
  if (seen.state === 'directory') {
    return { do: 'draft', draft: { ...base, kind: matchesShown === 'content' ? 'attr' : 'mkdir' } };
  }
  if (seen.state === 'symlink') {
    return { do: 'draft', draft: { ...base, kind: 'symlink', mode: undefined, target: seen.target } };
  }
  const { content, blocks, bytes } = seen;
  // If this file system cannot keep that time or mode, the other members keep theirs. A directory that was shown has no time to keep, and
  // a delete that a power cut has undone has neither.
  const kept = shown?.mode !== undefined && hasSameMode(shown) ? shown.mode : mode;
  const time = shown?.mtimeUs !== undefined && hasSameTime(shown) ? shown.mtimeUs : mtimeUs;
  const file = { ...base, content, size: fingerprint.size, mode: kept, mtimeUs: time, blocks };
  const draft: Draft =
    matchesShown === 'content' && !isOfBranch(shown)
      ? { ...file, kind: 'attr', keeps: replacedHere }
      : { ...file, kind: 'put', bytes };
  return { do: 'draft', draft };
}

/** The change at a path where no entry is. `shown`: the operation whose entry a user saw there. */
function findRemoval(input: Comparison, shown: Operation | undefined): LocalChange {
  const { path, row, head } = input;
  if (row?.remote) return { do: 'nothing' };
  if (row?.fingerprint === undefined) {
    return input.shown && isLive(input.shown) ? { do: 'forget' } : { do: 'nothing' };
  }
  if (head && !isLive(head)) return { do: 'adopt', head, fingerprint: undefined, racy: false };
  const unrecorded = findUnrecorded(input, shown, (operation) => !isLive(operation));
  if (unrecorded) return { do: 'adopt', head: unrecorded, fingerprint: undefined, racy: false };
  if (row.damaged || isTakenAway(input, shown) || isOutOfDate(input, shown) || isReplacedDirectory(input, shown))
    return { do: 'forget' };
  const parents = shown ? [shown] : [];
  return { do: 'draft', draft: { path, kind: 'delete', parents, replaced: row.content, vanished: true } };
}

/** True for an operation that was cut off a forked log. Its number identifies it on this member alone, so no operation may name it. */
function isOfBranch(operation: Operation | undefined): boolean {
  return operation !== undefined && !covers(operation.version, operation);
}

/** True when the entry is the damage that the row describes. */
function isStillDamaged(row: DiskEntry, seen: Exclude<Seen, { state: 'absent' }>): boolean {
  if (!row.damaged || seen.state !== 'file' || seen.content !== contentRead(row)) return false;
  if (!row.cut) return row.found !== undefined;
  const { fingerprint: before, content } = row;
  if (before === undefined) return false;
  if (content === undefined && mayBeSameInode(before, seen.fingerprint)) {
    // No program writes zeros over zeros. One that empties an empty file moves its time.
    if (seen.isZeros) return true;
    if (seen.fingerprint.size === 0 && isSameWriting(before, seen.fingerprint)) return true;
  }
  return isSameFingerprint(before, seen.fingerprint);
}

/**
 * True when the file has the time that the row's operation left it with, although that is not the operation's own. This file system cannot
 * keep that time and took the nearest. It is no edit: as an operation it would replace the true time on members whose disks can keep it.
 */
function isLeftTime({ fingerprint }: Exclude<Seen, { state: 'absent' }>, left: Fingerprint): boolean {
  return isSameTime(fingerprint.mtimeMs * 1_000, left.mtimeMs * 1_000);
}

/**
 * True when the agent may have removed a file or link for a directory whose author did not know of it. It was then killed before it made
 * the directory: no system call does both. A delete would supersede a sibling that has no copy yet. If the user removed the entry at that
 * moment, the sibling gets a copy all the same.
 */
function isTakenAway(
  { row, head, isKept }: { row: DiskEntry | undefined; head: Operation | undefined; isKept?: boolean | undefined },
  shown: Operation | undefined,
): boolean {
  if (isKept !== true || head === undefined || entryType(head) !== 'directory') return false;
  return row?.fingerprint !== undefined && !isDirectoryMode(row.fingerprint.mode) && isPassedOver(shown, head);
}

/**
 * True when this agent, of a member on demand, may have removed a file because another version of it came. A power cut then took the record.
 * If the user deleted the file at that moment, the other version stays: they had not seen it.
 */
function isOutOfDate({ head, isKept, mayHaveRemoved }: Comparison, shown: Operation | undefined): boolean {
  if (mayHaveRemoved !== true || isKept !== true || shown === undefined || head === undefined) return false;
  return entryType(head) === 'file' && !isSameDot(head, shown);
}

/**
 * True when a directory is gone that a file or link is to replace. Its removal is what the author of that entry asked for: an operation
 * would only conflict with theirs.
 */
function isReplacedDirectory({ row, head }: Comparison, shown: Operation | undefined): boolean {
  if (shown === undefined || head === undefined || !isLive(head) || entryType(head) === 'directory') return false;
  return row?.fingerprint !== undefined && isDirectoryMode(row.fingerprint.mode) && supersedes(head, shown);
}

/** True when the author of the visible head did not know of the operation that this disk shows: then `isKept` is needed. */
export function isPassedOver(shown: Operation | undefined, head: Operation | undefined): boolean {
  return shown !== undefined && head !== undefined && !isSameDot(shown, head) && !supersedes(head, shown);
}

/**
 * The operation whose entry the agent wrote without recording it: it was killed in between, and the operation was superseded before the
 * agent started again. The entry is then no edit of the user, although neither the row nor the head shows it.
 */
function findUnrecorded(
  input: {
    readonly row: DiskEntry | undefined;
    readonly head: Operation | undefined;
    readonly journaled: () => readonly Operation[];
    readonly isInterrupted?: boolean | undefined;
  },
  shown: Operation | undefined,
  isSeen: (operation: Operation) => boolean,
): Operation | undefined {
  const { row, head, journaled, isInterrupted } = input;
  if (head === undefined || (shown && isSameDot(head, shown))) return undefined;
  // An entry that this disk never showed and that others have deleted is kept and published: a newcomer's file that they once had too. And
  // if a head was passed over, the entry in its way is this member's own.
  if (shown === undefined && !isInterrupted && (row !== undefined || !isLive(head))) return undefined;
  return journaled().find((operation) => (shown === undefined || supersedes(operation, shown)) && isSeen(operation));
}

function isSameDot(a: Dot, b: Dot): boolean {
  return a.seq === b.seq && a.origin === b.origin;
}

/**
 * True when an entry at a new path with this fingerprint, whose content was not read, is the one of row `old`. Inode numbers are reused at
 * once, and unpacked files have the times of their archive. The birth time tells such a file from a renamed one; if the file system keeps
 * none, an equal size and time decide. So this is for large files only, which are slow to read, and the caller has the file read at once.
 * The change time proves nothing, because a rename changes it too.
 */
export function isSameFile(old: DiskEntry, fingerprint: Fingerprint): boolean {
  const before = old.fingerprint;
  return (
    before !== undefined &&
    !old.racy &&
    !old.damaged &&
    mayBeSameInode(before, fingerprint) &&
    isSameWriting(before, fingerprint) &&
    isDirectoryMode(before.mode) === isDirectoryMode(fingerprint.mode)
  );
}

/**
 * True when an entry moved untouched in the rename of a directory above it. Such a rename changes nothing in its fingerprint, not even the
 * change time, which no program can set back. Of a directory only identity and mode count.
 */
export function isCarriedAlong(old: DiskEntry, fingerprint: Fingerprint): boolean {
  return old.fingerprint !== undefined && !old.damaged && isSameEntry(old.fingerprint, fingerprint);
}
