import { describe, expect, test } from 'vitest';
import { directory, file, gone, lines, link, type PlanCase, type Tree, World } from './_fixtures.ts';

/** A directory of a file, a link and a directory with a file in it, at `name`; as it was moved there from `from`. */
function tree(name: string, from?: string): Tree {
  const origin = (path: string): { from: string } | undefined =>
    from === undefined ? undefined : { from: from + path };
  return {
    [name]: directory({ ...origin(''), span: from === undefined ? undefined : 10 }),
    [`${name}/f`]: file('F', origin('/f')),
    [`${name}/l`]: link('t', origin('/l')),
    [`${name}/s`]: directory(origin('/s')),
    [`${name}/s/g`]: file('G', origin('/s/g')),
  };
}

function deleted(...paths: readonly string[]): Tree {
  return Object.fromEntries(paths.map((path) => [path, gone]));
}

const old = tree('a');
const renamed = { ...tree('b', 'a'), ...deleted('a', 'a/f', 'a/l', 'a/s', 'a/s/g') };
const whole = 'rename-directory a to b with f l s s/g';
const piecewise = ['mkdir b 755', 'rename a/f to b/f', 'rename a/l to b/l', 'mkdir b/s 755', 'rename a/s/g to b/s/g'];

describe('renames of directories', () => {
  test.each<PlanCase>([
    { name: '[MT11] whole: one rename(2)', disk: old, heads: renamed, live: [whole] },
    {
      name: '[MT11] an empty directory too',
      disk: { a: directory() },
      heads: { b: directory({ from: 'a', span: 2 }), a: gone },
      live: ['rename-directory a to b with '],
    },
    {
      name: '[MT11] into a directory made by the same batch',
      disk: old,
      heads: { n: directory(), ...tree('n/b', 'a'), ...deleted('a', 'a/f', 'a/l', 'a/s', 'a/s/g') },
      live: ['mkdir n 755', 'rename-directory a to n/b with f l s s/g'],
    },
    {
      name: '[MT11] a later entry in it comes after it',
      disk: old,
      heads: { ...renamed, 'b/s/new': link('n') },
      live: [whole, 'symlink b/s/new to n'],
    },
    {
      name: '[MT11] racy entries go along',
      disk: { ...old, 'a/f': file('F', { racy: true }) },
      heads: renamed,
      live: [whole],
    },
    {
      name: '[MT11] a time off by less than two microseconds, or the time of a link, changes nothing',
      disk: { ...old, 'a/f': file('F', { mtimeUs: 999_999 }), 'a/l': link('t', { mtimeUs: 7 }) },
      heads: renamed,
      live: [whole],
    },
    {
      name: '[MT11] a file that leaves it before, in the same batch, does not stay behind',
      disk: { ...old, 'a/x': file('X') },
      heads: { A: file('X', { from: 'a/x' }), 'a/x': gone, ...renamed },
      live: ['rename a/x to A', whole],
    },
    {
      name: '[MT11] the new name is taken: entry by entry',
      disk: { ...old, b: directory() },
      heads: renamed,
      live: [...piecewise.slice(1), 'record b'],
    },
    {
      name: '[MT11] a file has the new name: it makes way for a directory',
      disk: { ...old, b: file('B') },
      heads: renamed,
      live: ['mkdir b 755 over file, keep B', ...piecewise.slice(1)],
    },
    {
      name: '[MT11] an entry that was deleted on the way',
      disk: old,
      heads: { ...renamed, 'b/f': gone },
      live: ['mkdir b 755', ...piecewise.slice(2)],
    },
    {
      name: '[MT11] an entry that was changed on the way',
      disk: old,
      heads: { ...renamed, 'b/l': link('u', { from: 'a/l' }) },
      live: ['mkdir b 755', 'rename a/f to b/f', 'symlink b/l to u', 'mkdir b/s 755', 'rename a/s/g to b/s/g'],
    },
    {
      name: '[MT11] an entry of another mode here',
      disk: { ...old, 'a/s': directory({ mode: 0o700 }) },
      heads: renamed,
      live: piecewise,
    },
    {
      name: '[MT11] an entry of another content here',
      disk: { ...old, 'a/f': file('X'), keep: file('F') },
      heads: renamed,
      live: ['mkdir b 755', 'write b/f=F from keep', ...piecewise.slice(2)],
    },
    {
      name: '[MT20] an entry that is damaged is not moved: entry by entry',
      disk: { ...old, 'a/f': file('F', { damaged: true }) },
      heads: renamed,
      live: [...piecewise.filter((line) => !line.includes('a/f')), 'need F for b/f'],
    },
    {
      name: '[MT11] an entry that others do not know stays, and so does the directory',
      disk: { ...old, 'a/own': file('O') },
      heads: renamed,
      live: piecewise,
    },
    {
      name: '[MT11] a file came into the old directory meanwhile',
      disk: old,
      heads: { ...renamed, 'a/late': link('n') },
      live: ['symlink a/late to n', whole],
    },
    {
      name: '[MT12] a new entry below a directory that this batch takes away waits for the resolver',
      disk: tree('c'),
      heads: { ...tree('b', 'c'), ...deleted('c', 'c/f', 'c/l', 'c/s', 'c/s/g'), 'c/late': link('n') },
      live: ['rename-directory c to b with f l s s/g', 'wait c/late'],
    },
    {
      name: '[MT11] the old directory was made again',
      disk: old,
      heads: { ...renamed, a: directory() },
      live: [...piecewise, 'record a'],
    },
    {
      name: '[MT11] the old name is free here',
      disk: { k: file('F') },
      heads: { b: directory({ from: 'a', span: 10 }), 'b/f': file('F', { from: 'a/f' }), ...deleted('a', 'a/f') },
      live: ['mkdir b 755', 'write b/f=F from k'],
    },
    {
      name: '[MT11] a file has the old name here',
      disk: { a: file('A') },
      heads: { b: directory({ from: 'a', span: 2 }), a: gone },
      live: ['mkdir b 755'],
    },
    {
      name: '[MT11] two members renamed it: the first name takes it, the second copies',
      disk: old,
      heads: { ...renamed, ...tree('c', 'a') },
      live: [
        whole,
        'mkdir c 755',
        'write c/f=F from a/f',
        'symlink c/l to t',
        'mkdir c/s 755',
        'write c/s/g=G from a/s/g',
      ],
    },
    {
      name: '[MT15] an unknown entry was found in it before: entry by entry',
      disk: old,
      heads: renamed,
      mixed: ['b'],
      live: piecewise,
    },
    {
      name: '[IG1] an entry that is ignored under its new name is not moved',
      disk: old,
      heads: renamed,
      ignored: ['b/s'],
      live: ['mkdir b 755', 'rename a/f to b/f', 'rename a/l to b/l', 'record b/s as absent', 'record b/s/g as absent'],
    },
    {
      name: '[IG1] an entry that is ignored under its old name is not moved',
      disk: old,
      heads: renamed,
      ignored: ['a/s'],
      live: ['mkdir b 755', 'rename a/f to b/f', 'rename a/l to b/l', 'mkdir b/s 755', 'write b/s/g=G from a/s/g'],
    },
    {
      name: '[MT8] a directory that is said to have moved into itself',
      disk: { a: directory() },
      heads: { 'a/b': directory({ from: 'a', span: 2 }), a: gone },
      live: ['mkdir a/b 755'],
    },
    {
      name: '[LC7] a directory with a new name only, as an older member may say it',
      disk: { a: directory() },
      heads: { b: directory({ from: 'a' }), a: gone },
      live: ['mkdir b 755'],
    },
  ])('$name', ({ name: _, live, ...input }) => {
    expect(lines(new World(input).plan('live'))).toEqual(live);
  });

  test('[MT11] both trees are recorded: the new one with the fingerprints that went along, the old one as gone', () => {
    const world = new World({ disk: { ...old, 'a/f': file('F', { racy: true }) }, heads: renamed });
    const before = new Map(world.rows);
    const left = { ino: 1, size: 1, mtimeMs: 0, ctimeMs: 5, mode: 0o040755 };
    const [step] = world.plan('live').steps;
    for (const { path, entry } of step?.record(left, false) ?? []) {
      expect(entry?.dot).toEqual({ origin: 'bee', seq: world.head(path)?.seq });
      world.rows.set(path, { path, dot: { origin: 'bee', seq: 0 } as never, ...entry });
    }
    expect(world.rows.get('b')?.fingerprint).toEqual(left);
    for (const name of ['f', 'l', 's', 's/g']) {
      expect(world.rows.get(`b/${name}`)?.fingerprint).toEqual(before.get(`a/${name}`)?.fingerprint);
      expect(world.rows.get(`a/${name}`)?.fingerprint).toBeUndefined();
    }
    expect(world.rows.get('b/f')).toMatchObject({ content: 'F', racy: true });
    expect(world.pending('live')).toEqual([]);
    expect(world.pending('delete')).toEqual([]);
  });

  test('[MT11] 10,000 entries are planned in linear time', () => {
    const names = Array.from({ length: 10_000 }, (_, index) => `f${index}`);
    const shapes = (directoryName: string, from?: string): [string, ReturnType<typeof file>][] =>
      names.map((name) => [
        `${directoryName}/${name}`,
        file('F', from === undefined ? {} : { from: `${from}/${name}` }),
      ]);
    const world = new World({
      disk: { a: directory(), ...Object.fromEntries(shapes('a')) },
      heads: {
        b: directory({ from: 'a', span: 20_002 }),
        ...Object.fromEntries(shapes('b', 'a')),
        a: gone,
        ...deleted(...names.map((name) => `a/${name}`)),
      },
    });
    const asked = { disk: 0, moved: 0, hasLiveBelow: 0 };
    const diskOf = world.disk.bind(world);
    const moved = world.moved.bind(world);
    world.disk = (path) => {
      asked.disk++;
      return diskOf(path);
    };
    world.moved = (from, path) => {
      asked.moved++;
      return moved(from, path);
    };
    expect(world.plan('live').steps).toHaveLength(1);
    expect(asked.moved).toBe(1);
    expect(asked.disk).toBeLessThan(10_100);
  });
});
