import { expect, test } from 'vitest';
import { historyFiles, historyRoom } from './history-room.ts';

const gibibyte = 1024 ** 3;
const disk = { totalBytes: 100 * gibibyte, freeBytes: 50 * gibibyte, historyBytes: 2 * gibibyte };

test('[ST7] history has a tenth of the disk by default, or what is set', () => {
  expect(historyRoom(disk)).toBe(10 * gibibyte);
  expect(historyRoom(disk, { share: 0.25 })).toBe(25 * gibibyte);
  expect(historyRoom(disk, { bytes: gibibyte })).toBe(gibibyte);
  expect(historyRoom(disk, { bytes: 0 })).toBe(0);
});

test('[ST7] it gives way while the disk has less free than the reserve', () => {
  // Of this disk 1 GiB stays free.
  expect(historyRoom({ ...disk, freeBytes: 3 * gibibyte })).toBe(4 * gibibyte);
  expect(historyRoom({ ...disk, freeBytes: gibibyte / 2 })).toBe(1.5 * gibibyte);
  expect(historyRoom({ ...disk, freeBytes: 0 })).toBe(gibibyte);
  expect(historyRoom({ ...disk, freeBytes: 0, historyBytes: gibibyte / 2 })).toBe(0);
  expect(historyRoom({ ...disk, freeBytes: 0 }, { bytes: gibibyte / 4 })).toBe(gibibyte / 4);
  // A small disk has a smaller reserve, but more than is needed for files that arrive.
  const small = { totalBytes: gibibyte, historyBytes: 50 * 1_048_576 };
  expect(historyRoom({ ...small, freeBytes: 31.2 * 1_048_576 })).toBe(30 * 1_048_576);
  expect(historyRoom({ totalBytes: 48 * 1_048_576, freeBytes: 31 * 1_048_576, historyBytes: 3 * 1_048_576 })).toBe(
    2 * 1_048_576,
  );
});

test('[ST7] it gives way while the disk has too few inodes free', () => {
  expect(historyFiles(1_000, 900, undefined)).toBe(1_000);
  expect(historyFiles(1_000, 900, { free: 2_000, total: 100_000 })).toBe(1_000);
  // 1,024 stay free.
  expect(historyFiles(1_000, 900, { free: 1_000, total: 100_000 })).toBe(876);
  expect(historyFiles(1_000, 900, { free: 10, total: 100_000 })).toBe(0);
  // A tiny disk keeps an eighth of its inodes free, twice.
  expect(historyFiles(1_000, 90, { free: 50, total: 400 })).toBe(40);
});
