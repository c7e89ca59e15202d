import { describe, expect, test } from 'vitest';
import type { DiskEntry } from './entry.ts';
import { isCarriedAlong, isSameFile } from './local-change.ts';
import { ant, directory, file, fingerprint, type Shape } from './plan/_fixtures.ts';

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
    {
      name: 'the same birth time',
      old: entry(file('A'), { fingerprint: as(file('A'), { birthMs: 7 }) }),
      now: as(file('A'), { birthMs: 7 }),
      same: true,
    },
    {
      name: 'another birth time: the inode number was given out again',
      old: entry(file('A'), { fingerprint: as(file('A'), { birthMs: 7 }) }),
      now: as(file('A'), { birthMs: 8 }),
      same: false,
    },
    { name: 'a row of before birth times', old: entry(file('A')), now: as(file('A'), { birthMs: 8 }), same: true },
    { name: 'another time', old: entry(file('A')), now: as(file('A'), { mtimeMs: 1 }), same: false },
    { name: 'a damaged row proves nothing', old: entry(file('A'), { damaged: true }), now: as(file('A')), same: false },
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
    { name: 'a damaged row', old: entry(file('A'), { damaged: true }), now: as(file('A')), same: false },
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
