import type { LoggedOperation } from '@lockstep/shared/api';
import { everyOperation, isEveryOperation, type OperationFilter, passes } from './operation-filter.ts';
import { addTo, groupOf, itemOf, type OperationItem } from './operation-item.ts';

/** Dropping one item at a time from the front of an array would move all others each time. */
const slackOperations = 5_000;

/**
 * The operations that the feed holds, as items, oldest first. New ones join at the end and old ones at the front; the group of an
 * operation grows where it stands, so that nothing moves under the reader's eyes.
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

  /** How many operations are held, whether they pass the filter or not. */
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

  /** Operations that came since, oldest first. Those at the other end go once there are too many. */
  append(operations: readonly LoggedOperation[]): void {
    const isAll = isEveryOperation(this.#filter);
    let mustSelect = false;
    for (const operation of operations) {
      const open = this.#openGroup(operation);
      if (open !== undefined) addTo(open, operation);
      const item = open ?? itemOf(operation);
      if (open === undefined) {
        this.#items.push(item);
        if (item.group !== undefined) this.#groups.set(item.group, item);
      }
      if (!isAll && passes(operation, this.#filter)) {
        if (open === undefined) this.#visible.push(item);
        else mustSelect = true;
      }
    }
    this.#operations += operations.length;
    this.#first ??= operations[0]?.row;
    this.#last = operations.at(-1)?.row ?? this.#last;
    if (this.#operations > this.#operationsMax + slackOperations) mustSelect = this.#dropOldest() || mustSelect;
    if (mustSelect) this.#select();
  }

  /** A page of operations that came before all others, newest first. */
  prepend(operations: readonly LoggedOperation[]): void {
    const made: OperationItem[] = [];
    for (const operation of operations) {
      const open = this.#openGroup(operation);
      if (open !== undefined) addTo(open, operation);
      else {
        const item = itemOf(operation);
        made.push(item);
        if (item.group !== undefined) this.#groups.set(item.group, item);
      }
    }
    this.#items = [...made.reverse(), ...this.#items];
    this.#operations += operations.length;
    this.#first = operations.at(-1)?.row ?? this.#first;
    this.#last ??= operations[0]?.row;
    this.#select();
  }

  /** Forgets all operations. */
  clear(): void {
    this.#items = [];
    this.#groups.clear();
    this.#operations = 0;
    this.#first = undefined;
    this.#last = undefined;
    this.#select();
  }

  /** Those of an item's operations that pass the filter, newest first. */
  shownOf(item: OperationItem): readonly LoggedOperation[] {
    return item.operations.filter((operation) => passes(operation, this.#filter)).reverse();
  }

  #openGroup(operation: LoggedOperation): OperationItem | undefined {
    const group = groupOf(operation);
    return group === undefined ? undefined : this.#groups.get(group);
  }

  #dropOldest(): boolean {
    let count = 0;
    for (const item of this.#items) {
      if (this.#operations <= this.#operationsMax || count === this.#items.length - 1) break;
      this.#operations -= item.operations.length;
      if (item.group !== undefined) this.#groups.delete(item.group);
      count++;
    }
    this.#items = this.#items.slice(count);
    this.#first = this.#items[0]?.operations[0]?.row;
    return true;
  }

  #select(): void {
    this.#visible = isEveryOperation(this.#filter)
      ? this.#items
      : this.#items.filter(({ operations }) => operations.some((operation) => passes(operation, this.#filter)));
  }
}
