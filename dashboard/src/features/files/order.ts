import type { TreeEntry } from '@lockstep/shared/api';

/** The orders of a directory, as in the address. A minus reverses: names from the last, the smallest, the oldest first. */
export const orders = {
  name: 'Name',
  '-name': 'Name, reversed',
  size: 'Largest first',
  '-size': 'Smallest first',
  time: 'Newest first',
  '-time': 'Oldest first',
} as const;

export type Order = keyof typeof orders;

/** A directory with more entries is only shown by name: for another order it must be read whole. */
export const sortedEntriesMax = 10_000;

/** The order in the parameters of an address; by name if they have none. */
export function orderOf(parameters: URLSearchParams): Order {
  const order = parameters.get('sort') ?? '';
  return Object.hasOwn(orders, order) ? (order as Order) : 'name';
}

/** How directories are listed. It is in the address, and stays from directory to directory. */
export interface ListedAs {
  readonly order: Order;
  /** Deleted entries are listed as well. */
  readonly deleted: boolean;
}

/** The way of listing in the parameters of an address. */
export function listedAs(parameters: URLSearchParams): ListedAs {
  return { order: orderOf(parameters), deleted: parameters.get('deleted') === 'true' };
}

/** `href` with the way of listing. */
export function withListing(href: string, { order, deleted }: ListedAs): string {
  const parameters = [...(order === 'name' ? [] : [`sort=${order}`]), ...(deleted ? ['deleted=true'] : [])];
  if (parameters.length === 0) return href;
  return `${href}${href.includes('?') ? '&' : '?'}${parameters.join('&')}`;
}

/** The order after a press on the title of a column: its own one, and reversed by the next press. */
export function nextOrder(order: Order, column: 'name' | 'size' | 'time'): Order {
  return order === column ? `-${column}` : column;
}

const names = new Intl.Collator(undefined, { numeric: true });
const byName = (a: TreeEntry, b: TreeEntry): number => names.compare(a.name, b.name);

/** Sorted entries; those that are equal are by name. An entry without a size is smaller than all others. */
export function sortedBy(entries: readonly TreeEntry[], order: Order): readonly TreeEntry[] {
  const sign = order.startsWith('-') ? -1 : 1;
  const comparisons: Readonly<Record<string, (a: TreeEntry, b: TreeEntry) => number>> = {
    name: byName,
    size: (a, b) => (b.size ?? -1) - (a.size ?? -1),
    time: (a, b) => b.at - a.at,
  };
  const compare = comparisons[order.replace('-', '')] ?? byName;
  return entries.toSorted((a, b) => sign * compare(a, b) || byName(a, b));
}
