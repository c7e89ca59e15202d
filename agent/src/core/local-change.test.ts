import { type ContentId, fieldRules, type Operation } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { find, rowOf, seen, words } from './_observations.ts';
import type { DiskEntry } from './entry.ts';
import { isPassedOver, type Seen } from './local-change.ts';
import { ant, bee, directory, file, fingerprint, gone, link, operation, type Shape } from './plan/_fixtures.ts';

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

describe('the row × the entry, while the head is the operation of the row', () => {
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

  test('[LC1] a directory with another inode is still that directory, and the row is refreshed', () => {
    const shown = operation('p', directory(), { origin: ant, seq: 1 });
    const row = rowOf(shown, directory());
    expect(words(find({ seen: seen(directory(), 2), row, shown, head: shown }))).toBe('refresh');
  });

  describe('[LC43] a file system without modes shows another one than the operation has', () => {
    const shown = operation('p', file('A', { mode: 0o600 }), { origin: ant, seq: 1 });
    const row = rowOf(shown, file('A', { mode: 0o755 }));

    test('under another inode number, which is no change', () => {
      const found = find({ seen: seen(file('A', { mode: 0o755 }), 2), row, shown, head: shown });
      expect(words(found)).toBe('refresh');
    });

    test.each([
      ['an edit', file('B', { mode: 0o755 }), 'put', 0o600],
      ['another time', file('A', { mode: 0o755, mtimeUs: 9_000_000 }), 'attr', 0o600],
      ['another mode', file('A', { mode: 0o555 }), 'attr', 0o555],
    ])('and then %s: the others get the mode that its user meant', (_, is, kind, mode) => {
      const found = find({ seen: seen(is), row, shown, head: shown });
      expect(found).toMatchObject({ do: 'draft', draft: { kind, mode } });
    });
  });

  test('[LC1] the row of a directory is refreshed if only its recorded mode is another one', () => {
    const shown = operation('p', directory({ mode: 0o700 }), { origin: ant, seq: 1 });
    const row = rowOf(shown, directory());
    expect(words(find({ seen: seen(directory({ mode: 0o700 })), row, shown, head: shown }))).toBe('refresh');
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
  test.each(['A', 'directory', 'link t'])('[LC2] the entry is unknown: %s has no parent', (is) => {
    const found = find({ seen: seen(shapes[is]) });
    expect(found).toMatchObject({ do: 'draft', draft: { parents: [], replaced: undefined } });
  });

  test('[LC6] an entry that was never shown is not deleted', () => {
    const head = operation('p', file('A'), { origin: bee, seq: 1 });
    expect(words(find({ seen: seen(undefined), head }))).toBe('nothing');
  });

  test('[IG4] a live entry that was passed over, and whose path is free now, is pending again', () => {
    const head = operation('p', file('A'), { origin: bee, seq: 1 });
    expect(words(find({ seen: seen(undefined), row: rowOf(head, undefined), shown: head, head }))).toBe('forget');
  });

  test('[IG4] an entry in the way of a live one that was passed over is this member’s own: it has no parent', () => {
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

describe('the disk has come to show the head', () => {
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
      name: 'the same as a head whose author knew another',
      is: file('B'),
      head: after(file('B'), []),
      expected: 'put after ant1+bee2 for A',
    },
    {
      name: 'the entry of the row, and the head is an edit',
      is: file('A'),
      head: after(file('B')),
      expected: 'refresh',
    },
  ])('[LC9] $name: $expected', ({ is, head, expected }) => {
    expect(words(find({ seen: seen(is), row: rowA, shown: shownA, head }))).toBe(expected);
  });

  test('[LC13] the same as a head whose author knew another, while history has the shown content: the agent wrote it', () => {
    const head = after(file('B'), []);
    expect(isPassedOver(shownA, head)).toBe(true);
    const change = find({ seen: seen(file('B')), row: rowA, shown: shownA, head, isKept: true });
    expect(words(change)).toBe('adopt bee2');
  });

  test('[LC34] a file deleted here is back, the same as a head whose author did not know the delete: the user put it back', () => {
    const deleted = operation('p', gone, { origin: ant, seq: 3 }, [shownA]);
    const head = after(file('B'), [shownA]);
    const change = find({ seen: seen(file('B')), row: rowOf(deleted, undefined), shown: deleted, head, isKept: true });
    expect(words(change)).toBe('put after ant3+bee2');
  });

  test.each([
    { name: 'and history has it: the agent removed it', seen: false, isKept: true, expected: 'forget' },
    {
      name: 'and history lacks it: the user removed it',
      seen: false,
      isKept: false,
      expected: 'delete after ant1 for A',
    },
    { name: 'that its maker had seen', seen: true, isKept: true, expected: 'delete after ant1 for A' },
  ])('[LC13] a file is gone where a directory is to be, $name', ({ seen: wasSeen, isKept, expected }) => {
    const head = wasSeen ? after(directory()) : after(directory(), []);
    const change = find({ seen: seen(undefined), row: rowA, shown: shownA, head, journaled: [head], isKept });
    expect(words(change)).toBe(expected);
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
    { name: 'an entry deleted elsewhere', is: file('B'), head: after(gone, []), expected: 'put' },
  ])('[SY5] without a row, $name: $expected', ({ is, head, expected }) => {
    expect(words(find({ seen: seen(is), head }))).toBe(expected);
  });
});

describe('the fields of a draft', () => {
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
    const draft = { kind: 'attr', content: 'A', size: 1, mode: 0o600, keeps: [shown] };
    expect(found).toMatchObject({ draft });
    expect(found).not.toHaveProperty('draft.bytes');
  });

  test('[FK5] a change of mode of an entry that was cut off a log is a whole file, which keeps no operation', () => {
    const cut = { ...shown, version: { vector: { [bee]: 9 } } };
    const changed = { ...seen(file('A', { mode: 0o600 })), bytes } as Seen;
    const found = find({ seen: changed, row, shown: cut, head: undefined });
    expect(found).toMatchObject({ draft: { kind: 'put', content: 'A', mode: 0o600, bytes } });
    expect(found).not.toHaveProperty('draft.keeps');
  });

  test('[LC11] a directory has no time, a link no mode', () => {
    expect(find({ seen: seen(directory()), row, shown, head: shown })).toMatchObject({
      draft: { mode: 0o755, mtimeUs: undefined },
    });
    expect(find({ seen: seen(link('t')), row, shown, head: shown })).toMatchObject({
      draft: { mode: undefined, target: 't', mtimeUs: 1_000_000 },
    });
  });

  test('[LC6] a delete has no fingerprint, and is marked as shown on this disk', () => {
    const found = find({ seen: seen(undefined), row, shown, head: shown });
    expect(found).toEqual({
      do: 'draft',
      draft: { path: 'p', kind: 'delete', parents: [shown], replaced: 'A', vanished: true },
    });
  });
});

// Simulator, seed 168913: the draft of an edit had no mode.
test('[LC20] every draft has the fields of its kind, whatever the row says', () => {
  const all = [...Object.values(shapes), undefined];
  const marks = [{}, { damaged: true }, { damaged: true, cut: true }, { damaged: true, cut: true, content: undefined }];
  const lacking: string[] = [];
  let drafts = 0;
  const compare = (now: Shape | undefined, said: Shape | undefined, row: Partial<DiskEntry>, ino: number): void => {
    const shown = operation('p', said ?? gone, { origin: ant, seq: 1 });
    const heads = all.map((shape) => operation('p', shape ?? gone, { origin: bee, seq: 1 }, [shown]));
    for (const head of [shown, undefined, ...heads]) {
      const change = find({ seen: seen(now, ino), row: { ...rowOf(shown, undefined), ...row }, shown, head });
      if (change.do !== 'draft') continue;
      drafts++;
      const { draft } = change;
      const { required } = fieldRules[draft.kind === 'attr' && draft.content ? 'file-attr' : draft.kind];
      const present = Object.entries(draft).flatMap(([name, value]) => (value === undefined ? [] : name));
      if (!required.every((field) => present.includes(field))) lacking.push(words(change));
    }
  };
  for (const [now, said, was] of all.flatMap((a) => all.flatMap((b) => all.map((c) => [a, b, c] as const)))) {
    const there = was && { content: was.content as ContentId, fingerprint: fingerprint(was, 1), racy: false };
    for (const mark of marks) for (const ino of [1, 2]) compare(now, said, { ...there, ...mark }, ino);
  }
  expect(lacking).toEqual([]);
  expect(drafts).toBeGreaterThan(10_000);
});
