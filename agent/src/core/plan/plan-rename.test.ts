import { describe, expect, test } from 'vitest';
import { bothPlans, directory, file, gone, link, type PlanCase, World } from './_fixtures.ts';

function check({ name: _, live = [], deleted = [], ...input }: PlanCase): void {
  expect(bothPlans(input)).toEqual({ live, deleted });
}

describe('renames of files and links', () => {
  test.each<PlanCase>([
    {
      name: '[MT14] a rename and its delete are one rename(2)',
      disk: { a: file('A') },
      heads: { b: file('A', { from: 'a' }), a: gone },
      live: ['rename a to b'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[MT14] the same for a link',
      disk: { a: link('t') },
      heads: { b: link('t', { from: 'a' }), a: gone },
      live: ['rename a to b'],
      deleted: ['unlink a'],
    },
    {
      name: '[MT14] a racy row is taken along',
      disk: { a: file('A', { racy: true }) },
      heads: { b: file('A', { from: 'a' }), a: gone },
      live: ['rename a to b'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[MT14] from another disk, which one rename(2) cannot do: it is written again',
      disk: { a: file('A') },
      heads: { b: file('A', { from: 'a' }), a: gone },
      mixed: ['b'],
      live: ['write b=A from a'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[MT14] without the delete it is a copy',
      disk: { a: file('A') },
      heads: { b: file('A', { from: 'a' }) },
      live: ['write b=A from a'],
    },
    {
      name: '[MT14] a link without the delete is made again',
      disk: { a: link('t') },
      heads: { b: link('t', { from: 'a' }) },
      live: ['symlink b to t'],
    },
    {
      name: '[MT14] over a file at the new name: that one is kept',
      disk: { a: file('A'), b: file('B') },
      heads: { b: file('A', { from: 'a' }), a: gone },
      live: ['rename a to b over file, keep B'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[MT14] over an empty directory',
      disk: { a: file('A'), b: directory() },
      heads: { b: file('A', { from: 'a' }), a: gone },
      live: ['rename a to b over directory'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[MG8] its old name is to be a directory: it stays until the resolver has journaled that',
      disk: { a: file('A') },
      heads: { b: file('A', { from: 'a' }), a: gone, 'a/x': link('t') },
      live: ['write b=A from a', 'wait a/x'],
      deleted: ['wait a'],
    },
    {
      name: '[MT14] a file that was changed as it was renamed is not taken from the old name',
      disk: { a: file('A') },
      heads: { b: file('B', { from: 'a' }), a: gone },
      staged: 'B',
      live: ['write b=B from staged'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[MT14] another entry has the old name here',
      disk: { a: file('C') },
      heads: { b: file('A', { from: 'a' }), a: gone },
      live: ['need A for b'],
      deleted: ['unlink a, keep C'],
    },
    {
      name: '[MT14] a link in place of the file that was renamed',
      disk: { a: link('t') },
      heads: { b: file('A', { from: 'a' }), a: gone },
      live: ['need A for b'],
      deleted: ['unlink a'],
    },
    {
      name: '[MT14] the old name is free here',
      heads: { b: file('A', { from: 'a' }), a: gone },
      history: 'A',
      live: ['write b=A from history'],
    },
    {
      name: '[MT14] two renames of one file: the first takes it, the second copies',
      disk: { a: file('A') },
      heads: { b: file('A', { from: 'a' }), c: file('A', { from: 'a' }), a: gone },
      live: ['rename a to b', 'write c=A from a'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[CT4] a swap fetches nothing: both are staged before either is replaced',
      disk: { a: file('A'), b: file('B') },
      heads: { a: file('B', { from: 'b' }), b: file('A', { from: 'a' }) },
      live: ['write a=B from b over file, keep A', 'write b=A from a over file, keep B'],
    },
    {
      name: '[CT4] a chain fetches nothing',
      disk: { a: file('A'), b: file('B') },
      heads: { b: file('A', { from: 'a' }), c: file('B', { from: 'b' }), a: gone },
      live: ['rename a to b over file, keep B', 'write c=B from b'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[CT4] a cycle of three fetches nothing',
      disk: { a: file('A'), b: file('B'), c: file('C') },
      heads: { a: file('C', { from: 'c' }), b: file('A', { from: 'a' }), c: file('B', { from: 'b' }) },
      live: [
        'write a=C from c over file, keep A',
        'write b=A from a over file, keep B',
        'write c=B from b over file, keep C',
      ],
    },
    {
      name: '[MT14] only the case of the name changes',
      disk: { readme: file('A') },
      heads: { README: file('A', { from: 'readme' }), readme: gone },
      live: ['rename readme to README'],
      deleted: ['unlink readme, keep A'],
    },
    {
      name: '[MT2] into a directory made by the same batch',
      disk: { a: file('A') },
      heads: { d: directory(), 'd/a': file('A', { from: 'a' }), a: gone },
      live: ['mkdir d 755', 'rename a to d/a'],
      deleted: ['unlink a, keep A'],
    },
    {
      name: '[MT2] out of a directory that goes',
      disk: { d: directory(), 'd/a': file('A') },
      heads: { d: gone, 'd/a': gone, z: file('A', { from: 'd/a' }) },
      live: ['rename d/a to z'],
      deleted: ['unlink d/a, keep A', 'rmdir d'],
    },
    {
      name: '[MT12] out of a directory whose name it takes: when that is empty, from history',
      disk: { d: directory(), 'd/a': file('A') },
      heads: { d: file('A', { from: 'd/a' }), 'd/a': gone },
      live: ['wait d'],
      deleted: ['unlink d/a, keep A'],
    },
    {
      name: '[IG1] an old name that is ignored here stays as it is',
      disk: { a: file('A') },
      heads: { b: file('A', { from: 'a' }), a: gone },
      ignored: ['a'],
      live: ['write b=A from a'],
      deleted: ['record a as absent'],
    },
  ])('$name', check);

  test('[MT14] both names are recorded, and a racy row stays racy', () => {
    const world = new World({
      disk: { a: file('A', { racy: true }) },
      heads: { b: file('A', { from: 'a' }), a: gone },
    });
    const left = { ino: 1, size: 1, mtimeMs: 1000, ctimeMs: 9, mode: 0o100644 };
    const [step] = world.plan('live').steps;
    expect(step?.record(left, false)).toEqual([
      { path: 'b', entry: { dot: { origin: 'bee', seq: 2 }, content: 'A', fingerprint: left, racy: true } },
      { path: 'a', entry: { dot: { origin: 'bee', seq: 3 } } },
    ]);
  });
});
