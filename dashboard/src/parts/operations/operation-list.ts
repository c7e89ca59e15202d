import type { LoggedOperation } from '@lockstep/shared/api';
import { FloodList, floodOperationsMax } from './flood-list.ts';
import { everyOperation, isEveryOperation, type OperationFilter, passes } from './operation-filter.ts';
import { addOlderTo, addTo, groupOf, itemOf, join, type OperationItem, placeOf, takes } from './operation-item.ts';

/** The excess over the maximum at which items are dropped: dropping one at a time would move all others each time. */
const slackOperations = 5_000;

/** The operations of an item that pass a filter, as long as it has `of` operations. */
interface Shown {
  readonly of: number;
  readonly filter: OperationFilter;
  readonly operations: readonly LoggedOperation[];
}

/**
 * The operations of the feed as items, oldest first. New ones are added at the end and older ones at the front. A group keeps its place
 * when it grows, so that no line moves while it is read.
 */
export class OperationList {
  readonly #operationsMax: number;
  #items: OperationItem[] = [];
  #visible: OperationItem[] = this.#items;
  readonly #groups = new Map<string, OperationItem>();
  #floods = new FloodList();
  readonly #shown = new WeakMap<OperationItem, Shown>();
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
      const open = this.#openGroup(operation) ?? this.#floods.lineFor(operation);
      const item = open === undefined ? this.#pushed(operation) : this.#grown(open, operation);
      if (!isAll && passes(operation, this.#filter)) this.#show(item);
    }
    this.#operations += operations.length;
    this.#first ??= operations[0]?.row;
    this.#last = operations.at(-1)?.row ?? this.#last;
    if (this.#operations > this.#operationsMax + slackOperations) this.#dropOldest();
  }

  /** Adds a page of operations that are older than all others, newest first. */
  prepend(operations: readonly LoggedOperation[]): void {
    const older = new OperationList(Number.POSITIVE_INFINITY);
    // Floods that go on while the feed is live begin in its first page.
    if (this.#operations === 0) older.#floods = this.#floods;
    const others: LoggedOperation[] = [];
    const grown = new Map<OperationItem, LoggedOperation[]>();
    for (const operation of operations) {
      const open = this.#openGroup(operation);
      if (open === undefined) others.push(operation);
      else if (!grown.get(open)?.push(operation)) grown.set(open, [operation]);
    }
    for (const [item, more] of grown) addOlderTo(item, more);
    older.append(others.reverse());
    this.#items = [...older.#items, ...this.#items];
    for (const [group, item] of older.#groups) this.#groups.set(group, item);
    this.#operations += operations.length;
    this.#first = operations.at(-1)?.row ?? this.#first;
    this.#last ??= operations[0]?.row;
    this.#select();
  }

  /** Removes all operations. */
  clear(): void {
    this.#items = [];
    this.#groups.clear();
    this.#floods.clear();
    this.#operations = 0;
    this.#first = undefined;
    this.#last = undefined;
    this.#select();
  }

  /** The operations of an item that pass the filter, newest first. */
  shownOf(item: OperationItem): readonly LoggedOperation[] {
    // Each rendering of the feed asks for all open groups.
    const before = this.#shown.get(item);
    if (before?.of === item.operations.length && before.filter === this.#filter) return before.operations;
    const operations = item.operations.filter((operation) => passes(operation, this.#filter)).reverse();
    this.#shown.set(item, { of: item.operations.length, filter: this.#filter, operations });
    return operations;
  }

  #openGroup(operation: LoggedOperation): OperationItem | undefined {
    const group = groupOf(operation);
    const item = group === undefined ? undefined : this.#groups.get(group);
    return item !== undefined && takes(item, operation, floodOperationsMax) ? item : undefined;
  }

  #grown(item: OperationItem, operation: LoggedOperation): OperationItem {
    addTo(item, operation);
    const group = groupOf(operation);
    if (group !== undefined) this.#groups.set(group, item);
    return item;
  }

  /** Adds a line for `operation`. If it completes a flood, the lines become one. */
  #pushed(operation: LoggedOperation): OperationItem {
    const made = this.#made(operation);
    this.#items.push(made);
    const [first, ...others] = this.#floods.note(made, operation);
    if (first === undefined) return made;
    join(first, others);
    for (const one of first.operations) {
      const group = groupOf(one);
      if (group !== undefined) this.#groups.set(group, first);
    }
    for (const other of others) this.#remove(other, first);
    return first;
  }

  #remove(item: OperationItem, inFavourOf: OperationItem): void {
    for (const items of new Set([this.#items, this.#visible])) {
      const place = placeOf(items, item.row);
      if (items[place] !== item) continue;
      items.splice(place, 1);
      if (items !== this.#items) this.#show(inFavourOf);
    }
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
      for (const operation of item.operations) {
        const group = groupOf(operation);
        if (group !== undefined && this.#groups.get(group) === item) this.#groups.delete(group);
      }
      count++;
    }
    this.#items.splice(0, count);
    const [oldest] = this.#items;
    this.#first = oldest?.operations[0]?.row;
    this.#floods.forgetBefore(oldest?.row ?? 0);
    if (this.#visible !== this.#items) this.#visible.splice(0, placeOf(this.#visible, oldest?.row ?? 0));
  }

  #select(): void {
    this.#visible = isEveryOperation(this.#filter)
      ? this.#items
      : this.#items.filter(({ operations }) => operations.some((operation) => passes(operation, this.#filter)));
  }
}
