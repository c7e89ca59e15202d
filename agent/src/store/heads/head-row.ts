import { type ContentId, type EntryType, entryType, isLive, isMemberPath, type Operation } from '@lockstep/shared';
import type { Bindable } from '../statement.ts';

/** The types of entries. A type's number in `heads` is its index here: append only. */
const types: readonly EntryType[] = ['absent', 'file', 'directory', 'symlink', 'member'];

export const absentType = types.indexOf('absent');
export const fileType = types.indexOf('file');
export const directoryType = types.indexOf('directory');

/** The state of a visible live head that the disk does not show. */
export const pendingLive = 1;
/** The state of a visible delete whose entry the disk still has. */
export const pendingDelete = 2;
/** The state of a live sibling that is not visible: its content must stay until it is superseded. */
export const losing = 3;

export type HeadState = typeof pendingLive | typeof pendingDelete | typeof losing | null;

/** A row of `heads` without its path and the columns that only indexes use. */
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

/** The fields of a row of `disk` on which the state of the path's head and the totals depend. */
export interface Shown {
  readonly origin: number;
  readonly seq: number;
  /** Whether an entry is there, or a file that is on other members only: 0 or 1. */
  readonly present: number;
  /** Whether the entry is damaged: 0 or 1. */
  readonly damaged: number;
  readonly content_key: number | null;
  /** `st_mode` and the size, both null where the path is absent. */
  readonly mode: number | null;
  readonly size: number | null;
}

/** The row of `heads` for `operation`, whose row in `ops` is `op`, as head number `rank` of its path. */
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

/** The state of a visible head: pending if the disk does not show it. Member paths have no entry on the disk. */
export function visibleState(
  path: string,
  head: { readonly type: number; readonly origin: number; readonly seq: number },
  shown: Shown | undefined,
): HeadState {
  // The cheapest test with the most frequent result comes first: this member's own operations are already on its disk.
  if (shown !== undefined && shown.origin === head.origin && shown.seq === head.seq && shown.damaged === 0) return null;
  if (head.type === absentType) return shown?.present ? pendingDelete : null;
  return isMemberPath(path) ? null : pendingLive;
}

// A losing entry of the member list has no content to lose, so it is not outstanding.
function losingState(operation: Operation): HeadState {
  return isLive(operation) && operation.kind !== 'member' ? losing : null;
}

/** The bytes of a visible head that are not at its path yet. A new mode or time of a content that is there already lacks none. */
export function missingBytes(
  head: Pick<HeadRow, 'type' | 'state' | 'size' | 'content_key'>,
  shown: Shown | undefined,
): number {
  if (head.state !== pendingLive || head.type !== fileType) return 0;
  const isThere = shown !== undefined && shown.content_key !== null && shown.content_key === head.content_key;
  return isThere ? 0 : head.size;
}

export function isPending(state: HeadState): boolean {
  return state === pendingLive || state === pendingDelete;
}

/**
 * The last 48 bits of the content's hash. An index of these is a fifth of one of the whole ids, and as selective unless an attacker makes
 * collisions. Queries compare the whole id too.
 */
export function contentKey(content: ContentId | undefined): number | null {
  return content === undefined ? null : Number.parseInt(content.slice(-12), 16) || 0;
}

export const headColumns = 'op, rank, origin, seq, type, size, content_key, state, mark';

/** The values of a row in the order of `headColumns`. */
export function headValues(row: HeadRow): Bindable[] {
  return [row.op, row.rank, row.origin, row.seq, row.type, row.size, row.content_key, row.state, row.mark];
}
