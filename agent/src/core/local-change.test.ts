import type { ContentId, Operation } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { ant, bee, directory, file, fingerprint, gone, link, operation, type Shape } from './_fixtures.ts';
import type { DiskEntry } from './disk-entry.ts';
import { type Finding, findLocalChange, isCarriedAlong, isPassedOver, isSameFile, type Seen } from './local-change.ts';

/** What a look finds where `shape` stands; nothing where there is none. */
function seen(shape: Shape | undefined, ino = 1): Seen {
  if (shape === undefined) return { state: 'absent' };
  const left = fingerprint(shape, ino);
  if (shape.kind === 'mkdir') return { state: 'directory', fingerprint: left };
  const mtimeUs = shape.mtimeUs ?? 0;
  if (shape.kind === 'symlink') return { state: 'symlink', fingerprint: left, mtimeUs, target: shape.target ?? '' };
  return { state: 'file', fingerprint: left, mtimeUs, racy: shape.racy ?? false, content: shape.content as ContentId };
}

function rowOf(shown: Operation, shape: Shape | undefined, ino = 1): DiskEntry {
  const { path, origin, seq, content } = shown;
  const there = shape === undefined ? {} : { content, fingerprint: fingerprint(shape, ino), racy: false };
  return { path, dot: { origin, seq }, ...there };
}

function find(input: {
  readonly seen: Seen;
  readonly row?: DiskEntry | undefined;
  readonly shown?: Operation | undefined;
  readonly head?: Operation | undefined;
  readonly journaled?: readonly Operation[];
  readonly isKept?: boolean;
}): Finding {
  const { row, shown, head, journaled = [], isKept } = input;
  return findLocalChange({ path: 'p', seen: input.seen, row, shown, head, journaled: () => journaled, isKept });
}

/** A finding in a few words: of a draft its kind, its parents by origin and number, and what it says it replaced. */
function words(finding: Finding): string {
  if (finding.do === 'adopt' || finding.do === 'adopt-attributes') {
    return `${finding.do} ${finding.head.origin}${finding.head.seq}`;
  }
  if (finding.do !== 'draft') return finding.do;
  const { kind, parents, replaced } = finding.draft;
  const after = parents.map(({ origin, seq }) => `${origin}${seq}`).join('+');
  return `${kind}${after && ` after ${after}`}${replaced === undefined ? '' : ` for ${replaced}`}`;
}

const shapes: Readonly<Record<string, Shape | undefined>> = {
  nothing: undefined,
  A: file('A'),
  'A, other mode': file('A', { mode: 0o600 }),
  'A, other time': file('A', { mtimeUs: 9_000_000 }),
  B: file('B'),
  directory: directory(),
  'closed directory': directory({ mode: 0o700 }),
  'link t': link('t'),
  'link u': link('u'),
};

type Row = Readonly<Record<string, string>>;

describe('what the row says × what is seen, while the head is what the row says', () => {
  const table: Readonly<Record<string, Row>> = {
    nothing: {
      nothing: 'nothing',
      A: 'put after ant1',
      B: 'put after ant1',
      directory: 'mkdir after ant1',
      'link t': 'symlink after ant1',
    },
    A: {
      nothing: 'delete after ant1 for A',
      A: 'refresh',
      'A, other mode': 'attr after ant1 for A',
      'A, other time': 'attr after ant1 for A',
      B: 'put after ant1 for A',
      directory: 'mkdir after ant1 for A',
      'link t': 'symlink after ant1 for A',
    },
    directory: {
      nothing: 'delete after ant1',
      A: 'put after ant1',
      directory: 'nothing',
      'closed directory': 'attr after ant1',
      'link t': 'symlink after ant1',
    },
    'link t': {
      nothing: 'delete after ant1',
      A: 'put after ant1',
      directory: 'mkdir after ant1',
      'link t': 'refresh',
      'link u': 'symlink after ant1',
    },
  };
  const cases = Object.entries(table).flatMap(([was, row]) =>
    Object.entries(row).map(([is, expected]) => ({ was, is, expected })),
  );

  test.each(cases)('[LC1][LC2] $was, and now $is: $expected', ({ was, is, expected }) => {
    const shape = shapes[was];
    const shown = operation('p', shape ?? gone, { origin: ant, seq: 1 });
    const row = rowOf(shown, shape);
    expect(words(find({ seen: seen(shapes[is]), row, shown, head: shown }))).toBe(expected);
  });

  test('[LC1] a directory with another inode is still that directory, and the row learns of it', () => {
    const shown = operation('p', directory(), { origin: ant, seq: 1 });
    const row = rowOf(shown, directory());
    expect(words(find({ seen: seen(directory(), 2), row, shown, head: shown }))).toBe('refresh');
  });

  test('[LC1] the fingerprint of a refresh is the one that was seen', () => {
    const shown = operation('p', file('A'), { origin: ant, seq: 1 });
    const found = find({ seen: seen(file('A', { racy: true }), 2), row: rowOf(shown, file('A')), shown, head: shown });
    expect(found).toEqual({ do: 'refresh', fingerprint: fingerprint(file('A'), 2), racy: true });
  });

  test('[LC11] a time that is off by less than two microseconds is the same time', () => {
    const shown = operation('p', file('A', { mtimeUs: 1_000_000 }), { origin: ant, seq: 1 });
    const row = rowOf(shown, file('A'));
    expect(words(find({ seen: seen(file('A', { mtimeUs: 999_999 })), row, shown, head: shown }))).toBe('refresh');
  });
});

describe('a path without a row', () => {
  test.each(['A', 'directory', 'link t'])('[LC2] nothing is known of it: %s has no parent', (is) => {
    const found = find({ seen: seen(shapes[is]) });
    expect(found).toMatchObject({ do: 'draft', draft: { parents: [], replaced: undefined } });
  });

  test('[LC6] what was never shown is not deleted', () => {
    const head = operation('p', file('A'), { origin: bee, seq: 1 });
    expect(words(find({ seen: seen(undefined), head }))).toBe('nothing');
  });

  test('[IG4] a live entry that was passed over, and whose path is free now, is pending again', () => {
    const head = operation('p', file('A'), { origin: bee, seq: 1 });
    expect(words(find({ seen: seen(undefined), row: rowOf(head, undefined), shown: head, head }))).toBe('forget');
  });

  test('[IG4] what stands where a live entry was passed over is nobody else’s: it has no parent', () => {
    const head = operation('p', file('A'), { origin: bee, seq: 1 });
    const row = rowOf(head, undefined);
    expect(words(find({ seen: seen(file('B')), row, shown: head, head }))).toBe('put');
    // Though a directory of the same mode was there once, before the head.
    const once = operation('p', directory(), { origin: ant, seq: 1 });
    const since = operation('p', file('A'), { origin: bee, seq: 2 }, [once]);
    const passedOver = { row: rowOf(since, undefined), shown: since, head: since };
    expect(words(find({ seen: seen(directory()), ...passedOver, journaled: [since, once] }))).toBe('mkdir');
  });
});

describe('the disk has come to show what the head says', () => {
  const base = operation('p', file('A'), { origin: ant, seq: 1 });
  const [shownA, rowA] = [base, rowOf(base, file('A'))];
  const after = (shape: Shape, parents: readonly Operation[] = [base]): Operation =>
    operation('p', shape, { origin: bee, seq: 2 }, parents);

  test.each<{
    readonly name: string;
    readonly is: Shape | undefined;
    readonly head: Operation;
    readonly expected: string;
  }>([
    { name: 'the same file', is: file('B'), head: after(file('B')), expected: 'adopt bee2' },
    { name: 'the same link', is: link('t'), head: after(link('t')), expected: 'adopt bee2' },
    { name: 'the same directory', is: directory(), head: after(directory()), expected: 'adopt bee2' },
    { name: 'nothing', is: undefined, head: after(gone), expected: 'adopt bee2' },
    {
      name: 'the same mode',
      is: file('A', { mode: 0o600 }),
      head: after(file('A', { mode: 0o600 })),
      expected: 'adopt bee2',
    },
    {
      name: 'the same content at another time',
      is: file('B', { mtimeUs: 5 }),
      head: after(file('B')),
      expected: 'adopt-attributes bee2',
    },
    {
      name: 'the same content of another mode',
      is: file('B', { mode: 0o600 }),
      head: after(file('B')),
      expected: 'adopt-attributes bee2',
    },
    {
      name: 'a directory of another mode',
      is: directory({ mode: 0o700 }),
      head: after(directory()),
      expected: 'adopt-attributes bee2',
    },
    {
      name: 'one mode here, another there',
      is: file('A', { mode: 0o600 }),
      head: after(file('A', { mode: 0o640 })),
      expected: 'attr after ant1 for A',
    },
    { name: 'other content', is: file('C'), head: after(file('B')), expected: 'put after ant1 for A' },
    {
      name: 'a file, and the head is a directory',
      is: file('C'),
      head: after(directory()),
      expected: 'put after ant1 for A',
    },
    {
      name: 'nothing, and the head is an edit',
      is: undefined,
      head: after(file('B')),
      expected: 'delete after ant1 for A',
    },
    {
      name: 'the same as a head that knew of another',
      is: file('B'),
      head: after(file('B'), []),
      expected: 'put after ant1+bee2 for A',
    },
    { name: 'what the row says, and the head is an edit', is: file('A'), head: after(file('B')), expected: 'refresh' },
  ])('[LC9] $name: $expected', ({ is, head, expected }) => {
    expect(words(find({ seen: seen(is), row: rowA, shown: shownA, head }))).toBe(expected);
  });

  test('[LC13] the same as a head that knew of another, while history has what was shown: the agent put it there', () => {
    const head = after(file('B'), []);
    expect(isPassedOver(shownA, head)).toBe(true);
    const finding = find({ seen: seen(file('B')), row: rowA, shown: shownA, head, isKept: true });
    expect(words(finding)).toBe('adopt bee2');
  });

  test.each([
    { name: 'the same file', is: file('B'), head: after(file('B'), []), expected: 'adopt bee2' },
    { name: 'other content', is: file('C'), head: after(file('B'), []), expected: 'put' },
    {
      name: 'the same content at another time',
      is: file('B', { mtimeUs: 5 }),
      head: after(file('B'), []),
      expected: 'adopt-attributes bee2',
    },
    { name: 'what was deleted elsewhere', is: file('B'), head: after(gone, []), expected: 'put' },
  ])('[SY5] without a row, $name: $expected', ({ is, head, expected }) => {
    expect(words(find({ seen: seen(is), head }))).toBe(expected);
  });
});

describe('the agent was killed before it had recorded what it did', () => {
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
      name: 'the same bytes, but another time: the user’s',
      is: file('B', { mtimeUs: 5 }),
      row,
      shown: base,
      head: later(done),
      journaled: [later(done), done, base],
      expected: 'put after ant1 for A',
    },
    {
      name: 'a link of the same text, but another time: the user’s',
      is: link('t', { mtimeUs: 5 }),
      row,
      shown: base,
      head: later(doneLink),
      journaled: [later(doneLink), doneLink, base],
      expected: 'symlink after ant1 for A',
    },
    {
      name: 'what the row knew of is put back: the user’s',
      is: file('A'),
      row: rowOf(done, file('B')),
      shown: done,
      head: later(done),
      journaled: [later(done), done, base],
      expected: 'put after bee2 for B',
    },
    {
      name: 'what others deleted, and this disk never showed, is kept and offered',
      is: file('B'),
      head: later(done, gone),
      journaled: [later(done, gone), done, base],
      expected: 'put',
    },
  ])('[LC13] $name: $expected', ({ is, expected, ...input }) => {
    expect(words(find({ seen: seen(is), ...input }))).toBe(expected);
  });

  test('[LC13] the log is asked only where the head is not what was shown', () => {
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

describe('what a draft carries', () => {
  const shown = operation('p', file('A'), { origin: ant, seq: 1 });
  const row = rowOf(shown, file('A'));
  const bytes = new Uint8Array([1]);
  const blocks = new Uint8Array(64);

  test('[LC11] a file: content, size, mode, time, blocks, and the bytes when they were read', () => {
    const file_: Seen = {
      state: 'file',
      fingerprint: fingerprint(file('B'), 7),
      mtimeUs: 1_000_000,
      racy: true,
      content: 'B' as ContentId,
      bytes,
      blocks,
    };
    expect(find({ seen: file_, row, shown, head: shown })).toEqual({
      do: 'draft',
      draft: {
        path: 'p',
        kind: 'put',
        parents: [shown],
        replaced: 'A',
        content: 'B',
        size: 1,
        mode: 0o644,
        mtimeUs: 1_000_000,
        blocks,
        bytes,
        fingerprint: fingerprint(file('B'), 7),
        racy: true,
      },
    });
  });

  test('[LC11] a change of mode repeats the content, but sends no bytes', () => {
    const changed = { ...seen(file('A', { mode: 0o600 })), bytes } as Seen;
    const found = find({ seen: changed, row, shown, head: shown });
    expect(found).toMatchObject({ draft: { kind: 'attr', content: 'A', size: 1, mode: 0o600, bytes: undefined } });
  });

  test('[LC11] a directory has no time, a link no mode', () => {
    expect(find({ seen: seen(directory()), row, shown, head: shown })).toMatchObject({
      draft: { mode: 0o755, mtimeUs: undefined },
    });
    expect(find({ seen: seen(link('t')), row, shown, head: shown })).toMatchObject({
      draft: { mode: undefined, target: 't', mtimeUs: 1_000_000 },
    });
  });

  test('[LC6] a delete has no fingerprint, and says that this disk shows it', () => {
    const found = find({ seen: seen(undefined), row, shown, head: shown });
    expect(found).toEqual({
      do: 'draft',
      draft: { path: 'p', kind: 'delete', parents: [shown], replaced: 'A', vanished: true },
    });
  });
});

describe('the same entry at another path', () => {
  const entry = (shape: Shape, extra: Partial<DiskEntry> = {}): DiskEntry => ({
    path: 'old',
    dot: { origin: ant, seq: 1 },
    fingerprint: fingerprint(shape, 5),
    ...extra,
  });
  const as = (shape: Shape, changes: object = {}) => ({ ...fingerprint(shape, 5), ...changes });

  test.each([
    { name: 'the same inode, size and time', old: entry(file('A')), now: as(file('A'), { ctimeMs: 99 }), same: true },
    { name: 'another inode', old: entry(file('A')), now: as(file('A'), { ino: 6 }), same: false },
    { name: 'another size', old: entry(file('A')), now: as(file('A'), { size: 2 }), same: false },
    { name: 'another time', old: entry(file('A')), now: as(file('A'), { mtimeMs: 1 }), same: false },
    { name: 'a racy row proves nothing', old: entry(file('A'), { racy: true }), now: as(file('A')), same: false },
    {
      name: 'a row without an entry',
      old: { path: 'old', dot: { origin: ant, seq: 1 } },
      now: as(file('A')),
      same: false,
    },
    {
      name: 'a directory that got the inode',
      old: entry(file('A')),
      now: as(directory(), { mtimeMs: 1000 }),
      same: false,
    },
  ])('[LC7] a large file: $name', ({ old, now, same }) => {
    expect(isSameFile(old, now)).toBe(same);
  });

  test.each([
    { name: 'nothing moved', old: entry(file('A')), now: as(file('A')), same: true },
    { name: 'a racy row', old: entry(file('A'), { racy: true }), now: as(file('A')), same: true },
    {
      name: 'another change time: a new file with the inode and the time of the old one',
      old: entry(file('A')),
      now: as(file('A'), { ctimeMs: 99 }),
      same: false,
    },
    { name: 'another inode', old: entry(file('A')), now: as(file('A'), { ino: 6 }), same: false },
    { name: 'another mode', old: entry(file('A')), now: as(file('A', { mode: 0o600 })), same: false },
    {
      name: 'a directory whose entries changed',
      old: entry(directory()),
      now: as(directory(), { ctimeMs: 99, mtimeMs: 99 }),
      same: true,
    },
    {
      name: 'a row without an entry',
      old: { path: 'old', dot: { origin: ant, seq: 1 } },
      now: as(file('A')),
      same: false,
    },
  ])('[LC7] below a renamed directory: $name', ({ old, now, same }) => {
    expect(isCarriedAlong(old, now)).toBe(same);
  });
});
