import { expect, test } from 'vitest';
import { historyRoom } from './history-room.ts';

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
