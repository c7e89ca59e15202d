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
import { supersedes } from './version.ts';

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
  /** The first path of the rename or unpacked tree it belongs to. */
  readonly groupPath?: string | undefined;
  readonly span?: number | undefined;
  readonly member?: MemberRecord | undefined;
  /** The parents whose content it leaves in place. */
  readonly keeps?: readonly Dot[] | undefined;
  /** Drafts of one unit are journaled together or not at all: a conflict's join without the copy of what lost would lose that. */
  readonly unit?: string | undefined;
  /** What the user had before their eyes: what the new operation replaces (DESIGN 3, rule 2). */
  readonly parents: readonly Operation[];
  readonly fingerprint?: Fingerprint | undefined;
  readonly racy?: boolean | undefined;
  /** What a row says of the file that goes along: what was renamed is as uncertain as it was. */
  readonly unconfirmed?: Unconfirmed | undefined;
  /** This disk shows the delete already. */
  readonly vanished?: boolean | undefined;
  readonly bytes?: Uint8Array | undefined;
  /** The stamp that the entry has already: it is journaled again, and is no newer for that. */
  readonly hlc?: number | undefined;
}

/** What a look found that has something to journal about it. */
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
    }
  | { readonly state: 'directory'; readonly fingerprint: Fingerprint }
  | {
      readonly state: 'symlink';
      readonly fingerprint: Fingerprint;
      readonly mtimeUs: number;
      readonly target: string;
    };

export type Finding =
  | { readonly do: 'nothing' }
  /** The entry is what the row says; only its fingerprint moved. */
  | { readonly do: 'refresh'; readonly fingerprint: Fingerprint; readonly racy: boolean }
  /** The disk already shows the visible head: no operation is needed, only the row. */
  | {
      readonly do: 'adopt';
      readonly head: Operation;
      readonly fingerprint: Fingerprint | undefined;
      readonly racy: boolean;
    }
  /**
   * Without the row the live head is pending again: the row passed over an entry that nothing is in the way of any more, spoke of
   * damage that was removed, or of what the agent itself took away before it was killed.
   */
  | { readonly do: 'forget' }
  /** What is there is the damage that the row speaks of; only its fingerprint moved. */
  | { readonly do: 'still-damaged'; readonly fingerprint: Fingerprint }
  /** As `adopt`, but mode or time must first be set to the head's. */
  | { readonly do: 'adopt-attributes'; readonly head: Operation; readonly fingerprint: Fingerprint }
  | { readonly do: 'draft'; readonly draft: Draft };

/**
 * Compares what stands at a path with the row of `disk` (never with the heads: rule 1), and makes a draft of the difference.
 * `shown` is the operation that the row says the disk shows. `head` is the visible head, which only serves to notice that
 * the disk has come to show it by other means: the same file copied onto two members, a journal that was lost. `journaled`:
 * the newest operations at the path, asked for only where the head is not what was shown. `isKept`: what the row shows is not lost
 * where it was replaced, for history has it or it is no file; so the agent may have replaced it, and been killed before it recorded that.
 * `isInterrupted`: the agent was killed in a batch that was to put something there.
 */
export function findLocalChange(input: {
  readonly path: string;
  readonly seen: Seen;
  readonly row: DiskEntry | undefined;
  readonly shown: Operation | undefined;
  readonly head: Operation | undefined;
  readonly journaled: () => readonly Operation[];
  readonly isKept?: boolean | undefined;
  readonly isInterrupted?: boolean | undefined;
}): Finding {
  const { seen, row, head } = input;
  const present = row?.fingerprint !== undefined;
  // A row without a fingerprint speaks of a live entry only where that is ignored or could not be shown: nobody saw it here.
  const shown = present || (input.shown && !isLive(input.shown)) ? input.shown : undefined;
  const parents = shown ? [shown] : [];
  const replaced = present ? row.content : undefined;
  if (seen.state === 'absent') {
    if (!present) return input.shown && isLive(input.shown) ? { do: 'forget' } : { do: 'nothing' };
    if (head && !isLive(head)) return { do: 'adopt', head, fingerprint: undefined, racy: false };
    const unrecorded = findUnrecorded(input, shown, (operation) => !isLive(operation));
    if (unrecorded) return { do: 'adopt', head: unrecorded, fingerprint: undefined, racy: false };
    if (row.damaged || isTakenAway(input, shown)) return { do: 'forget' };
    return { do: 'draft', draft: { path: input.path, kind: 'delete', parents, replaced, vanished: true } };
  }
  const { fingerprint } = seen;
  if (row !== undefined && isStillDamaged(row, seen)) return { do: 'still-damaged', fingerprint };
  const racy = seen.state === 'file' && seen.racy;
  const mode = permissions(fingerprint.mode);
  const mtimeUs = seen.state === 'directory' ? undefined : carriedTimeUs(seen.mtimeUs);
  const hasSameTime = (operation: Operation): boolean =>
    mtimeUs === undefined ||
    isSameTime(mtimeUs, operation.mtimeUs ?? 0) ||
    (operation === shown && present && row.fingerprint !== undefined && isLeftTime(seen, row.fingerprint));
  const matches = (operation: Operation): 'no' | 'content' | 'all' => {
    if (entryType(operation) !== seen.state) return 'no';
    if (seen.state === 'symlink') return operation.target === seen.target ? 'all' : 'no';
    if (seen.state === 'file' && operation.content !== seen.content) return 'no';
    return operation.mode === mode && hasSameTime(operation) ? 'all' : 'content';
  };
  const matchesShown = shown ? matches(shown) : 'no';
  if (matchesShown === 'all' && present) {
    const moved = seen.state !== 'directory' || row.fingerprint?.ino !== fingerprint.ino;
    return moved ? { do: 'refresh', fingerprint, racy } : { do: 'nothing' };
  }
  const matchesHead = head && head !== shown ? matches(head) : 'no';
  // A head that was made without knowing of what was shown here does not say that it is gone: where the user replaced it, an
  // operation must; where the agent did, nothing may. After a delete it is taken for the user's: else that delete would take
  // away what they put back.
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
  // An edit of damage supersedes nothing: its author did not see what the operation had put there.
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
  // Where this file system keeps no such time, the others keep theirs.
  // A directory that was shown has no time to keep.
  const time = shown?.mtimeUs !== undefined && hasSameTime(shown) ? shown.mtimeUs : mtimeUs;
  const file = { ...base, content, size: fingerprint.size, mtimeUs: time, blocks };
  const draft: Draft =
    matchesShown === 'content' ? { ...file, kind: 'attr', keeps: replacedHere } : { ...file, kind: 'put', bytes };
  return { do: 'draft', draft };
}

/** True when what was seen is the damage that the row speaks of. */
function isStillDamaged(row: DiskEntry, seen: Exclude<Seen, { state: 'absent' }>): boolean {
  if (!row.damaged || seen.state !== 'file' || seen.content !== contentRead(row)) return false;
  if (!row.cut) return row.found !== undefined;
  return row.fingerprint !== undefined && isSameFingerprint(row.fingerprint, seen.fingerprint);
}

/**
 * True when the file has the time that the row's operation left it with, though that is not the operation's own: this file system
 * has no such time and took the nearest. It is no edit: published, it would go to the members whose disks can show the true one.
 */
function isLeftTime({ fingerprint }: Exclude<Seen, { state: 'absent' }>, left: Fingerprint): boolean {
  return isSameTime(fingerprint.mtimeMs * 1_000, left.mtimeMs * 1_000);
}

/**
 * True when the agent may have taken a file or link away for a directory that was made without knowing of it, and was killed before
 * it made the directory: no system call does both. A delete would supersede a sibling that has no copy yet. Where the user removed it
 * in this moment, the sibling gets a copy all the same.
 */
function isTakenAway(
  { row, head, isKept }: { row: DiskEntry | undefined; head: Operation | undefined; isKept?: boolean | undefined },
  shown: Operation | undefined,
): boolean {
  if (isKept !== true || head === undefined || entryType(head) !== 'directory') return false;
  return row?.fingerprint !== undefined && !isDirectoryMode(row.fingerprint.mode) && isPassedOver(shown, head);
}

/** True when the visible head was made without knowing of what this disk shows: then `isKept` is needed. */
export function isPassedOver(shown: Operation | undefined, head: Operation | undefined): boolean {
  return shown !== undefined && head !== undefined && !isSameDot(shown, head) && !supersedes(head, shown);
}

/**
 * The agent was killed after it had put something there, and before that was recorded; when it started again, somebody had
 * replaced that operation already. What stands there is then no edit of the user, though neither the row nor the head shows it.
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
  // What this disk never showed and the others have deleted is kept and offered: a newcomer's file that once was theirs too. And
  // where a head was passed over, what stands in its way is this member's own.
  if (shown === undefined && !isInterrupted && (row !== undefined || !isLive(head))) return undefined;
  return journaled().find((operation) => (shown === undefined || supersedes(operation, shown)) && isSeen(operation));
}

function isSameDot(a: Dot, b: Dot): boolean {
  return a.seq === b.seq && a.origin === b.origin;
}

/**
 * True when an entry that stands at a new path with this fingerprint, and whose content was not read, is the one that stood at
 * `old`. Inode numbers are given out again at once, and unpacked files have the times of their archive. The birth time tells such a
 * file from a renamed one; where the file system keeps none, an equal size and time decide. So this is for large files only, where
 * reading is slow, and the caller has the file read at once. The change time says nothing, because a rename moves it too.
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
 * True when an entry was carried along untouched by the rename of a directory above it, which moves nothing of its own
 * fingerprint: not even the change time, that nobody can set back. Of a directory only identity and mode count.
 */
export function isCarriedAlong(old: DiskEntry, fingerprint: Fingerprint): boolean {
  return old.fingerprint !== undefined && !old.damaged && isSameEntry(old.fingerprint, fingerprint);
}
