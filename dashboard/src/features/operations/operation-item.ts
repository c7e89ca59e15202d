import type { LoggedOperation } from '@lockstep/shared/api';
import { type Act, actOf } from './operation-filter.ts';

/** One line of the feed: an operation, or a group of them (a directory's rename, an unpacked archive) with its sums. */
export interface OperationItem {
  /** Its place among the items: that of the operation for which it was made, and never changed. */
  readonly row: number;
  readonly group: string | undefined;
  /** Oldest first. */
  readonly operations: LoggedOperation[];
  bytes: number;
  readonly acts: Set<Act>;
  /** The path that all live ones lie in, or are; the same of the deleted ones, and of the names that renamed ones had before. */
  livePlace: string | undefined;
  gonePlace: string | undefined;
  formerPlace: string | undefined;
}

/** What the operations of one group have in common; undefined for one that belongs to none. */
export function groupOf({ origin, group }: LoggedOperation): string | undefined {
  return group === undefined ? undefined : `${origin}#${group}`;
}

export function itemOf(operation: LoggedOperation): OperationItem {
  const item: OperationItem = {
    row: operation.row,
    group: groupOf(operation),
    operations: [],
    bytes: 0,
    acts: new Set(),
    livePlace: undefined,
    gonePlace: undefined,
    formerPlace: undefined,
  };
  addTo(item, operation);
  return item;
}

/** Adds an operation that came after all others of its item. */
export function addTo(item: OperationItem, operation: LoggedOperation): void {
  item.operations.push(operation);
  count(item, operation);
}

/** Adds operations, newest first, that came before all others of their item: all at once, since each time all others move. */
export function addOlderTo(item: OperationItem, operations: readonly LoggedOperation[]): void {
  item.operations.unshift(...operations.toReversed());
  for (const operation of operations) count(item, operation);
}

function count(item: OperationItem, operation: LoggedOperation): void {
  item.bytes += operation.size ?? 0;
  item.acts.add(actOf(operation));
  if (operation.kind === 'delete') item.gonePlace = common(item.gonePlace, operation.path);
  else item.livePlace = common(item.livePlace, operation.path);
  if (operation.from !== undefined) item.formerPlace = common(item.formerPlace, operation.from);
}

/** Where the first of `items`, which ascend, with this row or a higher one stands. */
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

/** What a group did as a whole: the deletes of a rename are part of it. */
export function actOfItem({ acts }: OperationItem): Act {
  if (acts.has('renamed')) return 'renamed';
  const [only] = acts;
  return acts.size === 1 && only !== undefined ? only : 'changed';
}

/** Where a group did something: with a slash at the end, unless it is about a single file, such as one that was renamed. */
export function pathOfItem({ livePlace, gonePlace, operations }: OperationItem): string {
  const place = livePlace ?? gonePlace ?? '';
  const live = operations.find(({ kind }) => kind !== 'delete');
  // Nothing lies in a file: where the place of all live ones is one, there is no other.
  return live !== undefined && live.kind !== 'mkdir' && live.path === place ? place : `${place}/`;
}

function common(place: string | undefined, path: string): string {
  return place === undefined ? path : commonPath(place, path);
}

/** The longest path that both lie in, or are: `''` is the folder itself. */
export function commonPath(one: string, other: string): string {
  if (one === other) return one;
  const names = one.split('/');
  const others = other.split('/');
  let same = 0;
  while (same < names.length && names[same] === others[same]) same++;
  return names.slice(0, same).join('/');
}
