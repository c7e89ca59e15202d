import { expect, test } from 'vitest';
import type { Fingerprint } from '../entry.ts';
import { DraftRoom } from './draft-room.ts';

const journaledFile = (ino: number, birthMs?: number): Fingerprint => {
  return { ino, birthMs, size: 60, mtimeMs: 1, ctimeMs: 1, mode: 0o100644 };
};

test('[OD23] a published file counts once: as a draft until it is journaled, and then as a file', () => {
  const room = new DraftRoom();
  let inode: number | undefined;
  const counted = (): number =>
    room.countedBytes((path) => (path === 'film' && inode !== undefined ? journaledFile(inode) : undefined));
  room.grow(100);
  const journaled = room.published({ path: 'film', inode: 7, bytes: 60 });
  expect(counted()).toBe(100);
  inode = 6;
  expect(counted()).toBe(100);
  inode = 7;
  expect(counted()).toBe(40);
  journaled();
  journaled();
  expect([counted(), room.bytes]).toEqual([40, 100]);
  // Renamed by a program since.
  inode = undefined;
  expect(counted()).toBe(40);
  room.giveBackJournaled(60);
  room.giveBackJournaled(60);
  expect([counted(), room.bytes]).toEqual([40, 40]);
  room.lower(10);
  expect(counted()).toBe(10);
});

test('[OD23] a published file is not taken for an older one that had its inode', () => {
  const room = new DraftRoom();
  room.grow(100);
  room.published({ path: 'film', inode: 7, birthMs: 2_000, bytes: 60 });
  expect(room.countedBytes(() => journaledFile(7, 1_000))).toBe(100);
  expect(room.countedBytes(() => journaledFile(7, 2_000))).toBe(40);
});
