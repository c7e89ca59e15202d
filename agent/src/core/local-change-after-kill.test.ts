import type { Operation } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { find, rowOf, seen, words } from './_observations.ts';
import type { DiskEntry } from './entry.ts';
import { findLocalChange } from './local-change.ts';
import { ant, bee, file, gone, link, operation, type Shape } from './plan/_fixtures.ts';

describe('the agent was killed before it recorded its action', () => {
  const base = operation('p', file('A'), { origin: ant, seq: 1 });
  const done = operation('p', file('B'), { origin: bee, seq: 2 }, [base]);
  const doneLink = operation('p', link('t'), { origin: bee, seq: 2 }, [base]);
  const doneDelete = operation('p', gone, { origin: bee, seq: 2 }, [base]);
  const later = (parent: Operation, shape: Shape = file('C')): Operation =>
    operation('p', shape, { origin: bee, seq: 3 }, [parent]);
  const row = rowOf(base, file('A'));

  test.each<{
    readonly name: string;
    readonly is: Shape | undefined;
    readonly row?: DiskEntry;
    readonly shown?: Operation;
    readonly head: Operation;
    readonly journaled: readonly Operation[];
    readonly isInterrupted?: true;
    readonly expected: string;
  }>([
    {
      name: 'a file was replaced',
      is: file('B'),
      row,
      shown: base,
      head: later(done),
      journaled: [later(done), done, base],
      expected: 'adopt bee2',
    },
    {
      name: 'a file was deleted',
      is: undefined,
      row,
      shown: base,
      head: later(doneDelete),
      journaled: [later(doneDelete), doneDelete, base],
      expected: 'adopt bee2',
    },
    {
      name: 'a link was made',
      is: link('t'),
      row,
      shown: base,
      head: later(doneLink),
      journaled: [later(doneLink), doneLink, base],
      expected: 'adopt bee2',
    },
    {
      name: 'a file was replaced that others deleted since',
      is: file('B'),
      row,
      shown: base,
      head: later(done, gone),
      journaled: [later(done, gone), done, base],
      expected: 'adopt bee2',
    },
    {
      name: 'the first file at a path, or its journal is lost',
      is: file('B'),
      head: later(done),
      journaled: [later(done), done, base],
      expected: 'adopt bee2',
    },
    {
      name: 'the same bytes with another time: the user’s',
      is: file('B', { mtimeUs: 5 }),
      row,
      shown: base,
      head: later(done),
      journaled: [later(done), done, base],
      expected: 'put after ant1 for A',
    },
    {
      name: 'a link of the same text with another time: the user’s',
      is: link('t', { mtimeUs: 5 }),
      row,
      shown: base,
      head: later(doneLink),
      journaled: [later(doneLink), doneLink, base],
      expected: 'symlink after ant1 for A',
    },
    {
      name: 'the content of the row is put back: the user’s',
      is: file('A'),
      row: rowOf(done, file('B')),
      shown: done,
      head: later(done),
      journaled: [later(done), done, base],
      expected: 'put after bee2 for B',
    },
    {
      name: 'an entry that others deleted and this disk never showed is kept and published',
      is: file('B'),
      head: later(done, gone),
      journaled: [later(done, gone), done, base],
      expected: 'put',
    },
    {
      name: 'an entry that others deleted and the agent was about to write is adopted',
      is: file('B'),
      head: later(done, gone),
      journaled: [later(done, gone), done, base],
      isInterrupted: true,
      expected: 'adopt bee2',
    },
    {
      name: 'other bytes than the agent was about to write: the user’s',
      is: file('C'),
      head: later(done, gone),
      journaled: [later(done, gone), done, base],
      isInterrupted: true,
      expected: 'put',
    },
  ])('[LC13] $name: $expected', ({ is, expected, ...input }) => {
    expect(words(find({ seen: seen(is), ...input }))).toBe(expected);
  });

  test('[LC13] the log is read only if the head is not the shown operation', () => {
    const journaled = (): never => {
      throw new Error('asked');
    };
    const found = findLocalChange({ path: 'p', seen: seen(file('C')), row, shown: base, head: base, journaled });
    expect(words(found)).toBe('put after ant1 for A');
    expect(
      words(
        findLocalChange({
          path: 'p',
          seen: seen(file('C')),
          row: undefined,
          shown: undefined,
          head: undefined,
          journaled,
        }),
      ),
    ).toBe('put');
  });
});
