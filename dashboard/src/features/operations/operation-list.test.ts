import type { LoggedOperation } from '@lockstep/shared/api';
import { describe, expect, test } from 'vitest';
import { floodOperationsMax } from '../../parts/operations/flood-list.ts';
import { actOf, acts, everyOperation } from '../../parts/operations/operation-filter.ts';
import { actOfItem, addTo, commonPath, conflictOf, itemOf, pathOfItem } from '../../parts/operations/operation-item.ts';
import { OperationList } from '../../parts/operations/operation-list.ts';
import { FeedRows } from './feed-rows.ts';

function operation(row: number, more: Partial<LoggedOperation> = {}): LoggedOperation {
  // Each in a directory of its own, so that they are no flood.
  const path = `day-${row}/notes.txt`;
  const stamp = { at: row, hlc: row * 1024, row, journaledAt: row };
  return {
    origin: 'ant.a',
    seq: row,
    member: 'ant',
    memberName: 'ant',
    kind: 'put',
    path,
    size: 10,
    ...stamp,
    ...more,
  };
}

const run = (from: number, to: number, more: Partial<LoggedOperation> = {}) =>
  Array.from({ length: to - from + 1 }, (_, index) => operation(from + index, more));

/** The lines, newest first: a row number, or for a group the array of its rows. */
function linesOf(list: OperationList, open: readonly number[] = []): unknown[] {
  const rows = new FeedRows(list, new Set(open));
  return Array.from({ length: rows.count }, (_, line) => {
    const row = rows.at(line);
    if (row?.type === 'member') return `· ${row.operation.row}`;
    const all = row?.item.operations.map(({ row: number }) => number) ?? [];
    return all.length === 1 ? all[0] : all;
  });
}

describe('[DB-J2] the lines of the feed', () => {
  test('newest first, whether they arrive live or are read later', () => {
    const list = new OperationList(100);
    list.append(run(5, 6));
    list.prepend(run(3, 4).reverse());
    list.append([operation(7)]);
    list.prepend([operation(2)]);
    expect(linesOf(list)).toEqual([7, 6, 5, 4, 3, 2]);
    expect([list.firstRow, list.lastRow, list.operations]).toEqual([2, 7, 6]);
  });

  test('a group is one line at the place of its first operation, and can be opened', () => {
    const list = new OperationList(100);
    const group = { group: 2 };
    list.append([operation(4, group), operation(5), operation(6, group)]);
    list.prepend([operation(3), operation(2, group)]);
    list.append([operation(7, { ...group, origin: 'bee.b' })]);
    expect(linesOf(list)).toEqual([7, 5, [2, 4, 6], 3]);
    expect(linesOf(list, [4])).toEqual([7, 5, [2, 4, 6], '· 6', '· 4', '· 2', 3]);
    expect(list.visible.map(({ operations, bytes }) => [operations.length, bytes])).toEqual([
      [1, 10],
      [3, 30],
      [1, 10],
      [1, 10],
    ]);
  });

  test('older operations are added to the front of their group, in order', () => {
    const list = new OperationList(100);
    const group = { group: 1 };
    list.append([operation(9, group), operation(10)]);
    list.prepend([operation(8, group), operation(7), operation(6, group)]);
    list.prepend([operation(5, { group: 5 }), operation(4, group), operation(3, { group: 5 })]);
    expect(linesOf(list)).toEqual([10, [4, 6, 8, 9], 7, [3, 5]]);
    expect(list.visible.map(({ bytes }) => bytes)).toEqual([20, 10, 40, 10]);
  });

  test('[DB-J9] what settled one conflict is one line, with the writers of both versions', () => {
    const settled = (row: number, version: 'kept' | 'copied', writer: string, at = row) =>
      operation(row, {
        path: version === 'kept' ? 'notes.txt' : `notes.conflict-${row}.txt`,
        at,
        writer: { member: writer, memberName: writer, at: 1 },
        conflict: { path: 'notes.txt', version },
      });
    const list = new OperationList(100);
    list.append([settled(1, 'copied', 'bee'), settled(2, 'kept', 'cat'), operation(3)]);
    // A later conflict at the same path is another line.
    list.append([settled(4, 'copied', 'cat', 60_000), settled(5, 'kept', 'ant', 60_001)]);
    expect(linesOf(list)).toEqual([[4, 5], 3, [1, 2]]);
    const [first] = list.visible;
    expect(first && [actOfItem(first), conflictOf(first)]).toEqual([
      'conflict',
      { path: 'notes.txt', kept: 'cat', copied: ['bee'] },
    ]);
    list.filter = { ...everyOperation, member: 'bee' };
    expect(linesOf(list)).toEqual([[1, 2]]);
  });

  test('several open groups', () => {
    const list = new OperationList(100);
    list.append([...run(1, 2, { group: 1 }), operation(3), ...run(4, 5, { group: 4 }), operation(6)]);
    expect(linesOf(list, [1, 4, 99])).toEqual([6, [4, 5], '· 5', '· 4', 3, [1, 2], '· 2', '· 1']);
  });

  test('the oldest are dropped when there are too many', () => {
    const list = new OperationList(1_000);
    for (let row = 1; row <= 20_000; row += 100) list.append(run(row, row + 99));
    expect(list.lastRow).toBe(20_000);
    expect(list.operations).toBeGreaterThanOrEqual(1_000);
    expect(list.operations).toBeLessThanOrEqual(6_000);
    expect(list.visible.map(({ row }) => row)).toEqual(run(list.firstRow ?? 0, 20_000).map(({ row }) => row));
  });
});

describe('[DB-J8] floods', () => {
  const note = (row: number, more: Partial<LoggedOperation> = {}) => operation(row, { path: `notes/${row}`, ...more });
  const notes = (from: number, to: number) => run(from, to).map(({ row }) => note(row));

  const alternating = (everyMs: number): OperationList => {
    const list = new OperationList(100);
    for (let row = 1; row <= 9; row++) {
      const journaledAt = row * everyMs;
      list.append([row % 2 === 1 ? note(row, { journaledAt }) : operation(row, { member: 'bee', journaledAt })]);
    }
    return list;
  };

  test.each([1, 15_000, 75_000])('one every %d ms, with those of others between them, are one line', (everyMs) => {
    expect(linesOf(alternating(everyMs))).toEqual([8, 6, 4, 2, [1, 3, 5, 7, 9]]);
  });

  test('operations over a longer time are lines of their own', () => {
    expect(linesOf(alternating(76_000))).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('fewer than five, other directories and other members stay lines of their own', () => {
    const list = new OperationList(100);
    list.append([...notes(1, 4), ...[5, 6, 7].map((row) => note(row, { path: `other/${row}` }))]);
    list.append([8, 9, 10, 11].map((row) => note(row, { member: 'bee' })));
    expect(linesOf(list)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
  });

  test('groups in one directory are part of it; renames and groups in several directories are not', () => {
    const list = new OperationList(100);
    list.append([note(1, { group: 1 }), note(2, { group: 1 }), note(3, { group: 3 })]);
    list.append([note(4, { group: 3, path: 'deep/4' }), note(5, { from: 'old/5' }), ...notes(6, 8)]);
    expect(linesOf(list)).toEqual([8, 7, 6, 5, [3, 4], [1, 2]]);
    list.append([note(9, { group: 9 })]);
    expect(linesOf(list)).toEqual([5, [3, 4], [1, 2, 6, 7, 8, 9]]);
    expect(list.visible.map(({ bytes }) => bytes)).toEqual([60, 20, 10]);
    // The next operation of a group that is in the flood: here it stays, and elsewhere it begins a line.
    list.append([note(10, { group: 9 }), note(11, { group: 9, path: 'deep/11' }), note(12, { group: 9 })]);
    expect(linesOf(list)).toEqual([[11, 12], 5, [3, 4], [1, 2, 6, 7, 8, 9, 10]]);
  });

  test('a full line is followed by another one', () => {
    const list = new OperationList(10_000);
    list.append(notes(1, floodOperationsMax * 2 + 10));
    expect(list.visible.map(({ operations }) => operations.length)).toEqual([
      floodOperationsMax,
      floodOperationsMax,
      10,
    ]);
  });

  test('the same lines are made of a page, and of what arrives after the first page', () => {
    const live = new OperationList(100);
    live.append(notes(1, 7));
    const read = new OperationList(100);
    read.prepend(notes(3, 6).reverse());
    expect(linesOf(read)).toEqual([6, 5, 4, 3]);
    read.append([note(7)]);
    expect(linesOf(read)).toEqual([[3, 4, 5, 6, 7]]);
    const page = new OperationList(100);
    page.prepend([note(8)]);
    page.prepend(notes(1, 7).reverse());
    expect(linesOf(page)).toEqual([8, [1, 2, 3, 4, 5, 6, 7]]);
    expect(linesOf(live)).toEqual([[1, 2, 3, 4, 5, 6, 7]]);
  });

  test('a filtered feed shows the line that has taken the others', () => {
    const list = new OperationList(100);
    list.filter = { ...everyOperation, text: '/5' };
    list.append([...notes(1, 5), note(6, { path: 'notes/56' }), note(7, { path: '5/7', member: 'bee' })]);
    expect(linesOf(list, [1])).toEqual([[1, 2, 3, 4, 5, 6], '· 6', '· 5']);
  });
});

describe('[DB-J4] the filter', () => {
  const list = () => {
    const all = new OperationList(100);
    all.append([
      operation(1, { path: 'A/One.txt' }),
      operation(2, { kind: 'delete', path: 'a/two', member: 'bee' }),
      ...run(3, 5, { group: 3 }),
      operation(6, { group: 3, path: 'a/six', replaced: 'b3:0' }),
    ]);
    return all;
  };
  test.each([
    ['nothing', everyOperation, [[3, 4, 5, 6], 2, 1]],
    ['part of a path', { ...everyOperation, text: 'a/' }, [[3, 4, 5, 6], 2, 1]],
    ['case is ignored', { ...everyOperation, text: 'oNE' }, [1]],
    ['the effect', { ...everyOperation, kind: 'deleted' }, [2]],
    ['the member', { ...everyOperation, member: 'bee' }, [2]],
    ['all fields', { text: 'six', kind: 'changed', member: 'ant' }, [[3, 4, 5, 6]]],
  ])('%s', (_, filter, expected) => {
    const filtered = list();
    filtered.filter = filter;
    expect(linesOf(filtered)).toEqual(expected);
  });

  test('later operations pass it too, and an open group shows only those that pass', () => {
    const filtered = list();
    filtered.filter = { ...everyOperation, text: 'six' };
    filtered.append([operation(7), operation(8, { path: 'six' }), operation(9, { group: 3, path: 'six/b' })]);
    expect(linesOf(filtered, [3])).toEqual([8, [3, 4, 5, 6, 9], '· 9', '· 6']);
    filtered.filter = everyOperation;
    expect(linesOf(filtered)).toEqual([8, 7, [3, 4, 5, 6, 9], 2, 1]);
  });

  test('incremental filtering gives the same lines as filtering everything, also after the oldest are dropped', () => {
    const filter = { ...everyOperation, text: '7' };
    const live = new OperationList(1_000);
    live.filter = filter;
    const later = new OperationList(1_000);
    for (let row = 1; row <= 8_000; row += 100) {
      // The first operation of a group that passes is in a later batch than the group's first operation.
      const batch = run(row, row + 99).map((one) =>
        one.row % 5 === 0 ? { ...one, group: (one.row % 1_000) + 1 } : one,
      );
      live.append(batch);
      later.append(batch);
    }
    later.filter = filter;
    expect(live.visible.length).toBeGreaterThan(100);
    expect(linesOf(live)).toEqual(linesOf(later));
  });
});

test('what a group did, and where', () => {
  const list = new OperationList(100);
  const group = { group: 1 };
  list.append([
    operation(1, { ...group, kind: 'mkdir', path: 'new', from: 'old' }),
    operation(2, { ...group, path: 'new/a', from: 'old/a' }),
    operation(3, { ...group, kind: 'delete', path: 'old/a' }),
    operation(4, { ...group, kind: 'delete', path: 'old' }),
  ]);
  const [item] = list.visible;
  expect(item).toMatchObject({ livePlace: 'new', gonePlace: 'old', formerPlace: 'old' });
  expect(item && acts[actOfItem(item)]).toBe('Renamed');
  expect(actOf(operation(1, { replaced: 'b3:0' }))).toBe('changed');
});

test.each([
  ['a/b/c', 'a/b/d', 'a/b'],
  ['a/b', 'a/bc', 'a'],
  ['a', 'a/b', 'a'],
  ['a', 'b', ''],
])('%s and %s lie in "%s"', (one, other, expected) => {
  expect(commonPath(one, other)).toBe(expected);
});

test('[DB-J2] a group is shown as a directory, except for a renamed file', () => {
  const group = (...operations: readonly Partial<LoggedOperation>[]): string => {
    const [first, ...others] = operations.map((more, index) => operation(index + 1, { group: 1, ...more }));
    const item = itemOf(first ?? operation(1));
    for (const other of others) addTo(item, other);
    return pathOfItem(item);
  };
  expect(group({ path: 'b.txt', from: 'a.txt' }, { path: 'a.txt', kind: 'delete' })).toBe('b.txt');
  expect(group({ path: 'new', kind: 'mkdir' }, { path: 'new/a.txt', from: 'old/a.txt' })).toBe('new/');
  expect(group({ path: 'new', kind: 'mkdir' }, { path: 'old', kind: 'delete' })).toBe('new/');
  expect(group({ path: 'old/a.txt', kind: 'delete' }, { path: 'old', kind: 'delete' })).toBe('old/');
  expect(group({ path: 'a.txt' }, { path: 'b.txt' })).toBe('/');
});
