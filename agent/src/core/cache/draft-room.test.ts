import { expect, test } from 'vitest';
import { DraftRoom } from './draft-room.ts';

test('[OD23] a published file counts once: as a draft until it is journaled, and then as a file', () => {
  const room = new DraftRoom();
  let inode: number | undefined;
  const counted = (): number => room.countedBytes((path) => (path === 'film' ? inode : undefined));
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
