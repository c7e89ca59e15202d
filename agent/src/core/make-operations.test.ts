import { type MemberId, type Operation, type OriginId, originId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { stampMs } from './hlc.ts';
import type { Draft } from './local-change.ts';
import { makeOperations } from './make-operations.ts';
import { ant, bee, file, operation } from './plan/_fixtures.ts';
import { supersedes } from './version.ts';

const wallMs = 1_000_000;
const cat = originId('c'.repeat(52) as MemberId, 'aaaaaaaa');
const dog = originId('d'.repeat(52) as MemberId, 'aaaaaaaa');
const stampOf = (ms: number): number => ms * 1024;

interface Journal {
  readonly firstSeq?: number;
  readonly lastStamp?: number;
  readonly heads?: Readonly<Record<string, readonly Operation[]>>;
  /** The origin's own operations in the log, whether or not they are heads. */
  readonly own?: readonly Operation[];
  readonly groups?: Readonly<Record<string, number>>;
  readonly origin?: OriginId;
}

function make(drafts: readonly Draft[], journal: Journal = {}): ReturnType<typeof makeOperations> {
  return makeOperations(drafts, {
    origin: journal.origin ?? ant,
    firstSeq: journal.firstSeq ?? 1,
    lastStamp: journal.lastStamp ?? 0,
    wallMs,
    headsAt: (path) => journal.heads?.[path] ?? [],
    ownAt: (path, after) => (journal.own ?? []).filter((own) => own.path === path && own.seq > after),
    markOf: ({ origin, seq }) => (origin === bee ? `${seq}`.padStart(16, '0') : undefined),
    groupOf: (path) => journal.groups?.[path],
  });
}

function draft(path: string, extra: Partial<Draft> = {}): Draft {
  return { path, kind: 'mkdir', mode: 0o755, parents: [], ...extra };
}

const putBy = (origin: OriginId, seq: number, parents: readonly Operation[] = [], hlc = seq): Operation => ({
  ...operation('p', file('A'), { origin, seq }, parents),
  hlc,
});

describe('numbers and stamps', () => {
  test('[JN1] operations are numbered in the order of the drafts, without a gap', () => {
    const { operations } = make([draft('a'), draft('b'), draft('c')], { firstSeq: 8 });
    expect(operations.map(({ path, seq, origin }) => [path, seq, origin])).toEqual([
      ['a', 8, ant],
      ['b', 9, ant],
      ['c', 10, ant],
    ]);
  });

  test.each<{ readonly name: string; readonly last: number; readonly parent?: number; readonly stamp: number }>([
    { name: 'the wall clock', last: 0, stamp: stampOf(wallMs) },
    { name: 'the clock of this member is ahead', last: stampOf(wallMs) + 5, stamp: stampOf(wallMs) + 6 },
    { name: 'the parent is ahead', last: 0, parent: stampOf(wallMs) + 9, stamp: stampOf(wallMs) + 10 },
    {
      name: 'the clock went back by a day',
      last: stampOf(wallMs + 86_400_000),
      stamp: stampOf(wallMs + 86_400_000) + 1,
    },
    { name: 'the parent is behind', last: 0, parent: 7, stamp: stampOf(wallMs) },
  ])('[JN5] $name', ({ last, parent, stamp }) => {
    const parents = parent === undefined ? [] : [putBy(bee, 1, [], parent)];
    const { operations } = make([draft('p', { parents })], { lastStamp: last, heads: { p: parents } });
    expect(operations[0]?.hlc).toBe(stamp);
  });

  test('[JN5] the operations of one batch have growing stamps, and the last one is handed on', () => {
    const { operations, lastStamp } = make([draft('a'), draft('b'), draft('c')]);
    const stamps = operations.map(({ hlc }) => hlc);
    expect(stamps).toEqual([stampOf(wallMs), stampOf(wallMs) + 1, stampOf(wallMs) + 2]);
    expect(lastStamp).toBe(stamps[2]);
  });

  test('[JN6] an edit of a file from the future advances neither the next draft nor the clock', () => {
    const future = putBy(bee, 1, [], stampOf(wallMs + 86_400_000));
    const { operations, lastStamp } = make([draft('p', { parents: [future] }), draft('q')], {
      heads: { p: [future] },
    });
    expect(stampMs(operations[0]?.hlc ?? 0)).toBe(wallMs + 86_400_000);
    expect(stampMs(operations[1]?.hlc ?? 0)).toBeLessThanOrEqual(wallMs + 10_000);
    expect(stampMs(lastStamp)).toBeLessThanOrEqual(wallMs + 10_000);
  });
});

test('[JN5] siblings of one origin have different stamps, though both follow the same one far ahead', () => {
  const future = stampOf(wallMs + 86_400_000);
  const shown = [putBy(bee, 1, [], future), putBy(ant, 1, [], future)];
  const made = shown.map((parent, index) => {
    const { operations } = make([draft('p', { parents: [parent] })], { firstSeq: 5 + index, heads: { p: shown } });
    return operations[0]?.hlc ?? 0;
  });
  for (const hlc of made) expect(hlc).toBeGreaterThan(future);
  expect(new Set(made).size).toBe(2);
});

describe('versions', () => {
  const base = putBy(bee, 1);
  const antEdit = putBy(ant, 1, [base]);
  const beeEdit = putBy(bee, 2, [base]);
  const beeOnAnt = putBy(bee, 2, [antEdit]);

  test.each<{
    readonly name: string;
    readonly parents: readonly Operation[];
    readonly heads: readonly Operation[];
    readonly own?: readonly Operation[];
    readonly supersedes: readonly Operation[];
    readonly keeps: readonly Operation[];
  }>([
    { name: 'a new path', parents: [], heads: [], supersedes: [], keeps: [] },
    { name: 'an edit of the head', parents: [base], heads: [base], supersedes: [base], keeps: [] },
    {
      name: 'an edit of the shown operation, while another is the head',
      parents: [base],
      heads: [beeEdit],
      supersedes: [base],
      keeps: [beeEdit],
    },
    {
      name: 'on one of two siblings',
      parents: [beeEdit],
      heads: [beeEdit, antEdit],
      supersedes: [beeEdit, base],
      keeps: [antEdit],
    },
    {
      name: 'a new file where an own operation is a head that the disk does not show',
      parents: [],
      heads: [antEdit],
      supersedes: [],
      keeps: [antEdit, base],
    },
    {
      name: 'an own operation hidden behind a head made from it',
      parents: [base],
      heads: [beeOnAnt],
      own: [antEdit],
      supersedes: [base],
      keeps: [antEdit, beeOnAnt],
    },
    {
      name: 'a join of both siblings',
      parents: [beeEdit, antEdit],
      heads: [beeEdit, antEdit],
      supersedes: [beeEdit, antEdit, base],
      keeps: [],
    },
  ])('[LC3] $name', ({ parents, heads, own = [], supersedes: replaced, keeps }) => {
    const { operations } = make([draft('p', { parents })], { firstSeq: 5, heads: { p: heads }, own });
    const [made] = operations;
    if (made === undefined) throw new Error('nothing was made');
    for (const other of replaced) expect(supersedes(made, other)).toBe(true);
    for (const other of keeps) expect(supersedes(made, other)).toBe(false);
  });
});

describe('groups', () => {
  const groupsOf = (drafts: readonly Draft[], journal?: Journal): readonly (number | undefined)[] =>
    make(drafts, journal).operations.map(({ group }) => group);

  test('[LC7] a single operation is in no group', () => {
    expect(groupsOf([draft('a')])).toEqual([undefined]);
  });

  test('[LC7] the first of a group names it by its own number', () => {
    const drafts = [
      draft('x'),
      draft('d', { groupPath: 'd' }),
      draft('d/a', { groupPath: 'd' }),
      draft('e', { groupPath: 'e' }),
    ];
    expect(groupsOf(drafts, { firstSeq: 4 })).toEqual([undefined, 5, 5, 7]);
  });

  test('[LC7] a later draft joins an open group', () => {
    expect(groupsOf([draft('d/b', { groupPath: 'd' })], { firstSeq: 9, groups: { d: 5 } })).toEqual([5]);
  });

  test('[LC12] a rename begins a group of its own, whatever used its name before', () => {
    const drafts = [
      draft('d', { groupPath: 'd', from: 'c', span: 2 }),
      draft('c', { kind: 'delete', groupPath: 'd' }),
      draft('d/b', { groupPath: 'd' }),
    ];
    expect(groupsOf(drafts, { firstSeq: 9, groups: { d: 5 } })).toEqual([9, 9, 9]);
  });

  test('[LC12] two renames to one name in one batch are two groups', () => {
    const drafts = [
      draft('d/x', { groupPath: 'd/x', from: 'a', span: 2 }),
      draft('a', { kind: 'delete', groupPath: 'd/x' }),
      draft('e', { groupPath: 'd/x', from: 'b', span: 2 }),
      draft('b', { kind: 'delete', groupPath: 'd/x' }),
    ];
    expect(groupsOf(drafts)).toEqual([1, 1, 3, 3]);
  });
});

test('[JN1] an operation omits fields without a value, and facts about this disk are not sent', () => {
  const { operations } = make([
    draft('l', {
      kind: 'symlink',
      mode: undefined,
      target: 't',
      fingerprint: undefined,
      racy: true,
      vanished: false,
      bytes: new Uint8Array(1),
    }),
  ]);
  expect(Object.keys(operations[0] ?? {}).sort()).toEqual([
    'hlc',
    'kind',
    'origin',
    'path',
    'seq',
    'target',
    'version',
  ]);
});

test('[FK10] an operation has the marks of the other origins that its version names, in the order of their ids', () => {
  const made = (parents: readonly Operation[]) =>
    make([draft('p', { parents })], { heads: { p: parents } }).operations[0];
  expect(made([])?.marks).toBeUndefined();
  expect(made([putBy(ant, 1)])?.marks).toBeUndefined();
  // Of cat's operation nothing is known here.
  const marks = made([putBy(cat, 9), putBy(bee, 7)])?.marks;
  expect(Buffer.from(marks ?? []).toString('hex')).toBe(`${'7'.padStart(16, '0')}${'0'.repeat(16)}`);
});

test('[FK10] it takes the mark of a number that is not in the log here from the parent that names it', () => {
  const mark = 'c'.repeat(16);
  const parent = { ...putBy(dog, 3, [putBy(cat, 9)]), marks: Buffer.from(mark, 'hex') };
  const [made] = make([draft('p', { parents: [parent] })]).operations;
  expect(made?.version.vector).toEqual({ [ant]: 1, [cat]: 9, [dog]: 3 });
  expect(Buffer.from(made?.marks ?? []).toString('hex')).toBe(`${mark}${'0'.repeat(16)}`);
});
