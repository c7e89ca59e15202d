import { describe, expect, test } from 'vitest';
import { bothPlans, directory, file, gone, lines, link, type PlanCase, type Shape, World } from './_fixtures.ts';

function check({ name: _, live = [], deleted = [], ...input }: PlanCase): void {
  expect(bothPlans(input)).toEqual({ live, deleted });
}

describe('the entry on the disk × the visible head', () => {
  const onDisk: Readonly<Record<string, Shape | undefined>> = {
    nothing: undefined,
    'a deleted entry': gone,
    'the same file': file('A'),
    'the same file, other mode': file('A', { mode: 0o600 }),
    'the same file, other time': file('A', { mtimeUs: 7_000_000 }),
    'another file': file('B'),
    'an empty directory': directory(),
    'a directory of another mode': directory({ mode: 0o700 }),
    'the same link': link('t'),
    'another link': link('u'),
  };
  const [put, putKeep] = ['write p=A from staged', 'write p=A from staged over file, keep B'];
  const expected: Readonly<Record<string, { head: Shape; plans: Readonly<Record<string, readonly string[]>> }>> = {
    file: {
      head: file('A'),
      plans: {
        nothing: [put],
        'a deleted entry': [put],
        'the same file': ['record p'],
        'the same file, other mode': ['attr p 644 @1000000'],
        'the same file, other time': ['attr p 644 @1000000'],
        'another file': [putKeep],
        'an empty directory': [`${put} over directory`],
        'a directory of another mode': [`${put} over directory`],
        'the same link': [`${put} over link`],
        'another link': [`${put} over link`],
      },
    },
    directory: {
      head: directory(),
      plans: {
        nothing: ['mkdir p 755'],
        'a deleted entry': ['mkdir p 755'],
        'the same file': ['mkdir p 755 over file, keep A'],
        'the same file, other mode': ['mkdir p 755 over file, keep A'],
        'the same file, other time': ['mkdir p 755 over file, keep A'],
        'another file': ['mkdir p 755 over file, keep B'],
        'an empty directory': ['record p'],
        'a directory of another mode': ['attr p 755'],
        'the same link': ['mkdir p 755 over link'],
        'another link': ['mkdir p 755 over link'],
      },
    },
    link: {
      head: link('t', { mtimeUs: 9 }),
      plans: {
        nothing: ['symlink p to t'],
        'a deleted entry': ['symlink p to t'],
        'the same file': ['symlink p to t over file, keep A'],
        'the same file, other mode': ['symlink p to t over file, keep A'],
        'the same file, other time': ['symlink p to t over file, keep A'],
        'another file': ['symlink p to t over file, keep B'],
        'an empty directory': ['symlink p to t over directory'],
        'a directory of another mode': ['symlink p to t over directory'],
        'the same link': ['record p'],
        'another link': ['symlink p to t over link'],
      },
    },
    delete: {
      head: gone,
      plans: {
        nothing: [],
        'a deleted entry': [],
        'the same file': ['unlink p, keep A'],
        'the same file, other mode': ['unlink p, keep A'],
        'the same file, other time': ['unlink p, keep A'],
        'another file': ['unlink p, keep B'],
        'an empty directory': ['rmdir p'],
        'a directory of another mode': ['rmdir p'],
        'the same link': ['unlink p'],
        'another link': ['unlink p'],
      },
    },
  };
  const cases = Object.entries(expected).flatMap(([wanted, { head, plans }]) =>
    Object.entries(onDisk).map(([shown, shape]) => ({ shown, shape, wanted, head, plan: plans[shown] ?? [] })),
  );

  test.each(cases)('[MT13] $shown → $wanted', ({ shape, head, wanted, plan }) => {
    const world = new World({ disk: shape ? { p: shape } : {}, heads: { p: head }, staged: 'A' });
    expect(lines(world.plan(wanted === 'delete' ? 'delete' : 'live'))).toEqual(plan);
    expect(lines(world.plan(wanted === 'delete' ? 'live' : 'delete'))).toEqual([]);
  });

  test('[MT4] every step that changes an entry expects the fingerprint of the row', () => {
    for (const { shape, head } of cases) {
      const world = new World({ disk: shape ? { p: shape } : {}, heads: { p: head }, staged: 'A' });
      const row = world.disk('p')?.fingerprint ?? 'absent';
      for (const which of ['live', 'delete'] as const) {
        for (const { request } of world.plan(which).steps) {
          if ('expected' in request.action) expect(request.action.expected).toEqual(row);
          else expect(request.action.do).toBe('rmdir');
        }
      }
    }
  });

  test('[MT13] a time that is off by less than two microseconds is the same time', () => {
    const world = new World({ disk: { p: file('A', { mtimeUs: 999_999 }) }, heads: { p: file('A') } });
    expect(lines(world.plan('live'))).toEqual(['record p']);
  });

  test('[MT6] the row names the head and the fingerprint that the step left', () => {
    const world = new World({ disk: { p: file('B') }, heads: { p: file('A') }, staged: 'A' });
    const left = { ino: 77, size: 1, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
    const [step] = world.plan('live').steps;
    expect(step?.record(left, true)).toEqual([
      { path: 'p', entry: { dot: { origin: 'bee', seq: 2 }, content: 'A', fingerprint: left, racy: true } },
    ]);
  });
});

describe('parents, children, and entries in the way', () => {
  test.each<PlanCase>([
    {
      name: '[MT2] parents are made before children',
      heads: { d: directory(), 'd/e': directory(), 'd/e/f': file('A'), 'd/l': link('x') },
      staged: 'A',
      live: ['mkdir d 755', 'mkdir d/e 755', 'write d/e/f=A from staged', 'symlink d/l to x'],
    },
    {
      name: '[MT2] the entries of a directory are removed before it',
      disk: { d: directory(), 'd/e': directory(), 'd/e/f': file('A'), 'd/l': link('x') },
      heads: { d: gone, 'd/e': gone, 'd/e/f': gone, 'd/l': gone },
      deleted: ['unlink d/l', 'unlink d/e/f, keep A', 'rmdir d/e', 'rmdir d'],
    },
    {
      name: '[MT12] an entry whose parent is not there waits',
      heads: { 'd/f': file('A'), 'd/s': directory(), 'd/l': link('x') },
      staged: 'A',
      live: ['wait d/f', 'wait d/l', 'wait d/s'],
    },
    {
      name: '[MT12] an entry whose parent is a file on this disk waits',
      disk: { d: file('B') },
      heads: { 'd/f': file('A') },
      staged: 'A',
      live: ['wait d/f'],
    },
    {
      name: '[MG8] a file head over a directory with a live entry waits for the resolver',
      disk: { d: directory(), 'd/f': file('A') },
      heads: { d: file('B') },
      staged: 'B',
      live: ['wait d'],
    },
    {
      name: '[MG8] a delete above a live entry waits for the resolver',
      disk: { d: directory(), 'd/f': file('A'), 'd/g': file('B') },
      heads: { d: gone, 'd/g': gone },
      deleted: ['unlink d/g, keep B', 'wait d'],
    },
    {
      name: '[MG8] a delete also waits for a live entry below it that is not on the disk yet',
      disk: { d: directory() },
      heads: { d: gone, 'd/f': file('A') },
      staged: 'A',
      live: ['write d/f=A from staged'],
      deleted: ['wait d'],
    },
    {
      name: '[MT12] a file in place of a full directory waits until that is empty',
      disk: { d: directory(), 'd/f': file('A') },
      heads: { d: file('B'), 'd/f': gone },
      staged: 'B',
      live: ['wait d'],
      deleted: ['unlink d/f, keep A'],
    },
    {
      name: '[MT12] a link in place of a full directory waits too',
      disk: { d: directory(), 'd/f': file('A') },
      heads: { d: link('x'), 'd/f': gone },
      live: ['wait d'],
      deleted: ['unlink d/f, keep A'],
    },
    {
      name: '[MT12] a file becomes a directory with something in it',
      disk: { d: file('A') },
      heads: { d: directory(), 'd/f': file('B') },
      staged: 'B',
      live: ['mkdir d 755 over file, keep A', 'write d/f=B from staged'],
    },
    {
      name: '[CT4] a file becomes a directory with itself in it',
      disk: { d: file('A') },
      heads: { d: directory(), 'd/f': file('A', { from: 'd' }) },
      live: ['mkdir d 755 over file, keep A', 'write d/f=A from d'],
    },
  ])('$name', check);
});

describe('sources of content', () => {
  test.each<PlanCase>([
    {
      name: '[CT4] from another file of the folder',
      disk: { a: file('A') },
      heads: { b: file('A') },
      live: ['write b=A from a'],
    },
    {
      name: '[CT4] from history',
      heads: { b: file('A') },
      history: 'A',
      live: ['write b=A from history'],
    },
    {
      name: '[CT4] content that is not here is needed, and the rest goes on',
      heads: { a: file('A'), b: file('B'), c: file('A') },
      staged: 'B',
      live: ['write b=B from staged', 'need A for a', 'need A for c'],
    },
    {
      name: '[CT4] content is not needed for a change of mode only',
      disk: { a: file('A') },
      heads: { a: file('A', { mode: 0o755 }) },
      live: ['attr a 755 @1000000'],
    },
    {
      name: '[CT4] content is not needed for a path that waits',
      heads: { 'd/f': file('A') },
      live: ['wait d/f'],
    },
  ])('$name', check);
});

test('[CT4] an empty file comes from nowhere', () => {
  const world = new World({ heads: { a: file('') } });
  const [head] = world.pending('live').flatMap(({ heads }) => heads);
  if (head === undefined) throw new Error('there is a head');
  world.heads.set('a', { ...head, size: 0 });
  expect(lines(world.plan('live'))).toEqual(['write a= from bytes']);
});

describe('ignored paths', () => {
  test.each<PlanCase>([
    {
      name: '[IG1] an ignored entry is not written, and counts as done',
      heads: { a: file('A'), d: directory(), 'd/b': link('x') },
      ignored: ['a', 'd'],
      live: ['record a as absent', 'record d as absent', 'record d/b as absent'],
    },
    {
      name: '[IG4] an ignored entry is not deleted',
      disk: { a: file('A'), d: directory() },
      heads: { a: gone, d: gone },
      ignored: ['a', 'd'],
      deleted: ['record d as absent', 'record a as absent'],
    },
    {
      name: '[IG1] an ignored entry is not fetched either',
      heads: { a: file('A') },
      ignored: ['a'],
      live: ['record a as absent'],
    },
  ])('$name', check);
});

describe('a damaged entry', () => {
  test.each<PlanCase & { readonly damaged: Shape }>([
    {
      name: '[MT20] a file is written over what is there, which is kept under no content id',
      damaged: file('A'),
      staged: 'A',
      live: ['write p=A from staged over file'],
    },
    { name: '[MT20] its content is needed, though its row names the head', damaged: file('A'), live: ['need A for p'] },
    { name: '[MT20] a link is made again', damaged: link('t'), live: ['symlink p to t over link'] },
    { name: '[MT20] of a directory only the mode', damaged: directory({ mode: 0o700 }), live: ['record p'] },
  ])('$name', ({ name: _, damaged, live, ...input }) => {
    const world = new World({ ...input, disk: { p: { ...damaged, damaged: true } } });
    expect(lines(world.plan('live'))).toEqual(live);
  });

  test('[MT20] an entry whose row says that it was deleted is deleted', () => {
    const world = new World({ disk: { p: file('A') }, heads: { p: gone } });
    const head = world.head('p');
    const row = world.disk('p');
    if (head && row) world.rows.set('p', { ...row, dot: head, content: undefined, damaged: true });
    expect(lines(world.plan('delete'))).toEqual(['unlink p']);
  });

  test('[MT20] it is no source for another path, nor for a rename', () => {
    const disk = { a: file('A', { damaged: true }) };
    expect(lines(new World({ disk, heads: { b: file('A') } }).plan('live'))).toEqual(['need A for a', 'need A for b']);
    const renamed = { b: file('A', { from: 'a' }), a: gone };
    expect(lines(new World({ disk, heads: renamed }).plan('live'))).toEqual(['need A for b']);
  });
});
