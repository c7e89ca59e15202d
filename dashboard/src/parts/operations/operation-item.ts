import type { LoggedOperation } from '@lockstep/shared/api';
import { authorOf } from '@lockstep/shared/present';
import { type Act, actOf } from './operation-filter.ts';

/** One line of the feed: an operation, or a group of them (a directory's rename, an unpacked archive, a flood) with its sums. */
export interface OperationItem {
  /** The row of the operation for which the item was made. It sorts the items and never changes. */
  readonly row: number;
  readonly group: string | undefined;
  /** Oldest first. */
  readonly operations: LoggedOperation[];
  bytes: number;
  /** The directory that all operations are in; null if there are several, or renames, whose place is no directory. */
  directory: string | null;
  /** It is a flood: see `FloodList`. Its operations belong to several groups, or to none. */
  isFlood: boolean;
  readonly acts: Set<Act>;
  /** The common path of all live entries; below, that of the deleted ones, and of the former names of renamed ones. */
  livePlace: string | undefined;
  gonePlace: string | undefined;
  formerPlace: string | undefined;
}

/** The longest time between the operations that settle one conflict: a resolver makes them at once. */
const conflictMs = 1_000;

/** The id of an operation's group: what settles one conflict is a group too. Undefined for an operation without a group. */
export function groupOf({ origin, group, conflict }: LoggedOperation): string | undefined {
  if (conflict !== undefined) return `${origin}!${conflict.path}`;
  return group === undefined ? undefined : `${origin}#${group}`;
}

/** The conflict that the operations of an item settled: its path, and who wrote the version that has the name, and the copies. */
export interface SettledConflict {
  readonly path: string;
  readonly kept: string | undefined;
  readonly copied: readonly string[];
}

/** The names of those who wrote the versions of a conflict, the one that has the name first. */
export function writersOf({ kept, copied }: SettledConflict): readonly string[] {
  return [...new Set([...(kept === undefined ? [] : [kept]), ...copied])];
}

export function conflictOf({ operations }: OperationItem): SettledConflict | undefined {
  const path = operations[0]?.conflict?.path;
  if (path === undefined || operations.some(({ conflict }) => conflict?.path !== path)) return undefined;
  const writers = (version: 'kept' | 'copied') =>
    operations.filter(({ conflict }) => conflict?.version === version).map((each) => authorOf(each).memberName);
  return { path, kept: writers('kept').at(-1), copied: writers('copied') };
}

export function itemOf(operation: LoggedOperation): OperationItem {
  const item: OperationItem = {
    row: operation.row,
    group: groupOf(operation),
    operations: [],
    bytes: 0,
    directory: operation.from === undefined ? directoryOf(operation.path) : null,
    isFlood: false,
    acts: new Set(),
    livePlace: undefined,
    gonePlace: undefined,
    formerPlace: undefined,
  };
  addTo(item, operation);
  return item;
}

/** Adds an operation that is newer than all others of its item. */
export function addTo(item: OperationItem, operation: LoggedOperation): void {
  item.operations.push(operation);
  count(item, operation);
}

/** Adds operations, newest first, that are older than all others of their item. One call adds all: each call moves the others. */
export function addOlderTo(item: OperationItem, operations: readonly LoggedOperation[]): void {
  item.operations.unshift(...operations.toReversed());
  for (const operation of operations) count(item, operation);
}

/** Moves the operations of `others` into `item`, in the order of their rows. */
export function join(item: OperationItem, others: readonly OperationItem[]): void {
  for (const operation of others.flatMap(({ operations }) => operations)) addTo(item, operation);
  item.operations.sort((a, b) => a.row - b.row);
  item.isFlood = true;
}

/** Whether a line that has operations of the group of `operation` takes it too. A flood stays in its directory, and ends when it is full. */
export function takes(item: OperationItem, operation: LoggedOperation, operationsMax: number): boolean {
  const { path, from, conflict, at } = operation;
  if (!item.isFlood) return conflict === undefined || Math.abs(at - (item.operations[0]?.at ?? at)) <= conflictMs;
  return from === undefined && directoryOf(path) === item.directory && item.operations.length < operationsMax;
}

/** The directory of a path; `''` is the folder itself. */
export function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

function count(item: OperationItem, operation: LoggedOperation): void {
  item.bytes += operation.size ?? 0;
  item.acts.add(actOf(operation));
  if (operation.from !== undefined || item.directory !== directoryOf(operation.path)) item.directory = null;
  if (operation.kind === 'delete') item.gonePlace = common(item.gonePlace, operation.path);
  else item.livePlace = common(item.livePlace, operation.path);
  if (operation.from !== undefined) item.formerPlace = common(item.formerPlace, operation.from);
}

/** The index of the first of the ascending `items` with this row or a higher one. */
export function placeOf(items: readonly OperationItem[], row: number): number {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle]?.row ?? row) < row) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The effect of a group as a whole: the deletes of a rename are part of it. */
export function actOfItem({ acts }: OperationItem): Act {
  if (acts.has('renamed')) return 'renamed';
  const [only] = acts;
  return acts.size === 1 && only !== undefined ? only : 'changed';
}

/** The path of a group's changes. It ends with a slash unless it is a single file, such as a renamed one. */
export function pathOfItem({ livePlace, gonePlace, operations }: OperationItem): string {
  const place = livePlace ?? gonePlace ?? '';
  const live = operations.find(({ kind }) => kind !== 'delete');
  // A file contains nothing: if the common path of all live entries is a file, it is the only one.
  return live !== undefined && live.kind !== 'mkdir' && live.path === place ? place : `${place}/`;
}

function common(place: string | undefined, path: string): string {
  return place === undefined ? path : commonPath(place, path);
}

/** The longest path that both paths are or lie in; `''` is the folder itself. */
export function commonPath(one: string, other: string): string {
  if (one === other) return one;
  const names = one.split('/');
  const others = other.split('/');
  let same = 0;
  while (same < names.length && names[same] === others[same]) same++;
  return names.slice(0, same).join('/');
}
