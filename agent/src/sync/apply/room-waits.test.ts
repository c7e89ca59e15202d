import { freeBytesMin } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { RoomWaits } from './room-waits.ts';

const mebibyte = 1_048_576;

test('[MT43] a file is tried again once the disk that lacked the room for it has it', () => {
  const waits = new RoomWaits();
  waits.add('film', 100 * mebibyte);
  waits.add('song', 5 * mebibyte);
  expect(waits.measured(freeBytesMin + 4 * mebibyte)).toEqual([]);
  expect(waits.measured(freeBytesMin + 50 * mebibyte)).toEqual(['song']);
  expect(waits.measured(freeBytesMin + 50 * mebibyte)).toEqual([]);
  expect(waits.measured(freeBytesMin + 100 * mebibyte)).toEqual(['film']);
});

test('[MT43] a file that a quota refuses, while the disk has room, only waits', () => {
  const waits = new RoomWaits();
  waits.add('film', 100 * mebibyte);
  expect(waits.measured(freeBytesMin + 200 * mebibyte)).toEqual([]);
  waits.delete('film');
  expect(waits.measured(0)).toEqual([]);
});
