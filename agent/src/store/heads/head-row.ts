import { type ContentId, type EntryType, entryType, isLive, isMemberPath, type Operation } from '@lockstep/shared';
import type { Bindable } from '../statement.ts';

/** A type's number in `heads` is its place here: append only. */
const types: readonly EntryType[] = ['absent', 'file', 'directory', 'symlink', 'member'];

export const absentType = types.indexOf('absent');
export const fileType = types.indexOf('file');
export const directoryType = types.indexOf('directory');

/** Visible, live, and the disk does not show it. */
export const pendingLive = 1;
/** Visible, a delete, and the disk still has the entry. */
export const pendingDelete = 2;
/** A live sibling that is not visible: its content must stay until something supersedes it. */
export const losing = 3;

export type HeadState = typeof pendingLive | typeof pendingDelete | typeof losing | null;

/** A row of `heads`, less its path and what is kept for indexes only. */
export interface HeadRow {
  /** The row of `ops`. */
  readonly op: number;
  /** 0 is the visible one. */
  readonly rank: number;
  readonly origin: number;
  readonly seq: number;
  readonly type: number;
  readonly size: number;
  readonly content_key: number | null;
  readonly state: HeadState;
  /** 48 bits of the chain hash of the operation. */
  readonly mark: number;
}

/** What the row of `disk` says of a path, as far as its head's state depends on it. */
export interface Shown {
  readonly origin: number;
  readonly seq: number;
  /** Whether an entry is there: 0 or 1. */
  readonly present: number;
  /** Whether what is there is not what the operation says: 0 or 1. */
  readonly damaged: number;
}

/** The row of `operation`, which stands in `ops` as `op`, as head number `rank` of its path. */
export function headRow(input: {
  readonly operation: Operation;
  readonly op: number;
  readonly mark: number;
  readonly origin: number;
  readonly rank: number;
  readonly shown: Shown | undefined;
}): HeadRow {
  const { operation, op, mark, origin, rank, shown } = input;
  const type = types.indexOf(entryType(operation));
  const { path, seq } = operation;
  const state = rank === 0 ? visibleState(path, { type, origin, seq }, shown) : losingState(operation);
  return {
    op,
    rank,
    origin,
    seq,
    type,
    size: operation.size ?? 0,
    content_key: contentKey(operation.content),
    state,
    mark,
  };
}

/** Whether the disk shows the visible head. Member paths have nothing on the disk. */
export function visibleState(
  path: string,
  head: { readonly type: number; readonly origin: number; readonly seq: number },
  shown: Shown | undefined,
): HeadState {
  // First the cheapest question with the most frequent answer: this member's own operations are on its disk already.
  if (shown !== undefined && shown.origin === head.origin && shown.seq === head.seq && shown.damaged === 0) return null;
  if (head.type === absentType) return shown?.present ? pendingDelete : null;
  return isMemberPath(path) ? null : pendingLive;
}

// A losing entry of the member list has no content that could be lost: it holds nothing up.
function losingState(operation: Operation): HeadState {
  return isLive(operation) && operation.kind !== 'member' ? losing : null;
}

export function isPending(state: HeadState): boolean {
  return state === pendingLive || state === pendingDelete;
}

/**
 * The last 48 bits of the content's hash: an index of these is a fifth of one of the whole ids, and as selective unless
 * somebody makes collisions on purpose. Queries compare the whole id too.
 */
export function contentKey(content: ContentId | undefined): number | null {
  return content === undefined ? null : Number.parseInt(content.slice(-12), 16) || 0;
}

export const headColumns = 'op, rank, origin, seq, type, size, content_key, state, mark';

/** The values of a row in the order of `headColumns`. */
export function headValues(row: HeadRow): Bindable[] {
  return [row.op, row.rank, row.origin, row.seq, row.type, row.size, row.content_key, row.state, row.mark];
}
