import type { LoggedOperation } from '@lockstep/shared/api';
import { everyOperation, isEveryOperation, type OperationFilter, passes } from './operation-filter.ts';
import { addOlderTo, addTo, groupOf, itemOf, type OperationItem, placeOf } from './operation-item.ts';

/** The excess over the maximum at which items are dropped: dropping one at a time would move all others each time. */
const slackOperations = 5_000;

/**
 * The operations of the feed as items, oldest first. New ones are added at the end and older ones at the front. A group keeps its place
 * when it grows, so that no line moves while it is read.
 */
export class OperationList {
  readonly #operationsMax: number;
  #items: OperationItem[] = [];
  #visible: OperationItem[] = this.#items;
  readonly #groups = new Map<string, OperationItem>();
  #filter = everyOperation;
  #operations = 0;
  #first: number | undefined;
  #last: number | undefined;

  constructor(operationsMax: number) {
    this.#operationsMax = operationsMax;
  }

  /** The items that pass the filter, oldest first. */
  get visible(): readonly OperationItem[] {
    return this.#visible;
  }

  /** The number of operations in the list, whether they pass the filter or not. */
  get operations(): number {
    return this.#operations;
  }

  get isFull(): boolean {
    return this.#operations >= this.#operationsMax;
  }

  /** Rows of the oldest and the newest operation; undefined when there is none. */
  get firstRow(): number | undefined {
    return this.#first;
  }

  get lastRow(): number | undefined {
    return this.#last;
  }

  get filter(): OperationFilter {
    return this.#filter;
  }

  set filter(filter: OperationFilter) {
    this.#filter = filter;
    this.#select();
  }

  /** Adds new operations, oldest first. The oldest in the list are dropped if there are too many. */
  append(operations: readonly LoggedOperation[]): void {
    const isAll = isEveryOperation(this.#filter);
    for (const operation of operations) {
      const open = this.#openGroup(operation);
      if (open !== undefined) addTo(open, operation);
      const item = open ?? this.#made(operation);
      if (open === undefined) this.#items.push(item);
      if (!isAll && passes(operation, this.#filter)) this.#show(item);
    }
    this.#operations += operations.length;
    this.#first ??= operations[0]?.row;
    this.#last = operations.at(-1)?.row ?? this.#last;
    if (this.#operations > this.#operationsMax + slackOperations) this.#dropOldest();
  }

  /** Adds a page of operations that are older than all others, newest first. */
  prepend(operations: readonly LoggedOperation[]): void {
    const made: OperationItem[] = [];
    const grown = new Map<OperationItem, LoggedOperation[]>();
    for (const operation of operations) {
      const open = this.#openGroup(operation);
      if (open === undefined) made.push(this.#made(operation));
      else if (!grown.get(open)?.push(operation)) grown.set(open, [operation]);
    }
    for (const [item, older] of grown) addOlderTo(item, older);
    this.#items = [...made.reverse(), ...this.#items];
    this.#operations += operations.length;
    this.#first = operations.at(-1)?.row ?? this.#first;
    this.#last ??= operations[0]?.row;
    this.#select();
  }

  /** Removes all operations. */
  clear(): void {
    this.#items = [];
    this.#groups.clear();
    this.#operations = 0;
    this.#first = undefined;
    this.#last = undefined;
    this.#select();
  }

  /** The operations of an item that pass the filter, newest first. */
  shownOf(item: OperationItem): readonly LoggedOperation[] {
    return item.operations.filter((operation) => passes(operation, this.#filter)).reverse();
  }

  #openGroup(operation: LoggedOperation): OperationItem | undefined {
    const group = groupOf(operation);
    return group === undefined ? undefined : this.#groups.get(group);
  }

  #made(operation: LoggedOperation): OperationItem {
    const item = itemOf(operation);
    if (item.group !== undefined) this.#groups.set(item.group, item);
    return item;
  }

  /** Inserts an item that passes the filter into the visible ones. It is nearly always the newest, or already one of them. */
  #show(item: OperationItem): void {
    const place = placeOf(this.#visible, item.row);
    if (this.#visible[place] !== item) this.#visible.splice(place, 0, item);
  }

  #dropOldest(): void {
    let count = 0;
    for (const item of this.#items) {
      if (this.#operations <= this.#operationsMax || count === this.#items.length - 1) break;
      this.#operations -= item.operations.length;
      if (item.group !== undefined) this.#groups.delete(item.group);
      count++;
    }
    this.#items.splice(0, count);
    const [oldest] = this.#items;
    this.#first = oldest?.operations[0]?.row;
    if (this.#visible !== this.#items) this.#visible.splice(0, placeOf(this.#visible, oldest?.row ?? 0));
  }

  #select(): void {
    this.#visible = isEveryOperation(this.#filter)
      ? this.#items
      : this.#items.filter(({ operations }) => operations.some((operation) => passes(operation, this.#filter)));
  }
}
