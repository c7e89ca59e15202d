import type { TreeEntry } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { shownEntries } from './listing.ts';
import { listedAs, nextOrder, type Order, sortedBy, withListing } from './order.ts';

function entry(name: string, size: number | undefined, at: number, type: TreeEntry['type'] = 'file'): TreeEntry {
  const writer = { origin: 'o', seq: 1, writer: 'w', writerName: 'w' };
  return { path: name, name, type, size, at, ...writer, holding: 1, missing: [], conflict: false, pending: false };
}

const entries = [
  entry('b10', 5, 3),
  entry('b9', 5, 1),
  entry('dir', 900, 2, 'directory'),
  entry('link', undefined, 4, 'symlink'),
];

test.each<[Order, string]>([
  ['name', 'b9 b10 dir link'],
  ['-name', 'link dir b10 b9'],
  ['size', 'dir b9 b10 link'],
  ['-size', 'link b9 b10 dir'],
  ['time', 'link b10 dir b9'],
  ['-time', 'b9 dir b10 link'],
])('[DB-F7] the order %s', (order, expected) => {
  expect(
    sortedBy(entries, order)
      .map(({ name }) => name)
      .join(' '),
  ).toBe(expected);
});

test('[DB-F7] a directory that is not read whole yet stays by name', () => {
  expect(shownEntries({ entries, total: 9, next: 'link' }, 'size')).toEqual(entries);
  expect(shownEntries({ entries, total: 4, next: null }, 'size')[0]?.name).toBe('dir');
});

test('[DB-F7] the order is part of the address', () => {
  expect(listedAs(new URLSearchParams('sort=-time'))).toEqual({ order: '-time', deleted: false });
  expect(listedAs(new URLSearchParams('sort=toString&deleted=true'))).toEqual({ order: 'name', deleted: true });
  expect(withListing('/files/a', { order: 'name', deleted: false })).toBe('/files/a');
  expect(withListing('/files/a', { order: 'size', deleted: false })).toBe('/files/a?sort=size');
  expect(withListing('/files/a?q=b', { order: '-size', deleted: true })).toBe('/files/a?q=b&sort=-size&deleted=true');
});

test('[DB-F7] a second press on a column reverses it', () => {
  expect(nextOrder('name', 'size')).toBe('size');
  expect(nextOrder('size', 'size')).toBe('-size');
  expect(nextOrder('-size', 'size')).toBe('size');
});
