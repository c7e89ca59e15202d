import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatDiskRoom, formatDuration, formatSize, parseDiskRoom, parseDuration, parseSize } from './quantity.ts';

describe('durations and sizes', () => {
  test.each([
    ['10m', 600_000],
    ['1.5h', 5_400_000],
    ['250 ms', 250],
    ['0s', 0],
    ['10', undefined],
    ['-1s', undefined],
    ['1 week', undefined],
    ['1 toString', undefined],
    ['', undefined],
  ])('duration %s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  test.each([
    ['1 GiB', 1024 ** 3],
    ['0.5KiB', 512],
    ['12 B', 12],
    ['1 GB', undefined],
    ['1e9 B', undefined],
  ])('size %s', (text, bytes) => {
    expect(parseSize(text)).toBe(bytes);
  });

  test.each([
    ['10 %', { share: 0.1 }, '10 %'],
    ['2.5%', { share: 0.025 }, '2.5 %'],
    ['0 %', { share: 0 }, '0 %'],
    ['1 GiB', { bytes: 1024 ** 3 }, '1 GiB'],
    ['101 %', undefined, ''],
    ['-1 %', undefined, ''],
    ['%', undefined, ''],
    ['10', undefined, ''],
  ])('[ST7] room on a disk %s', (text, room, written) => {
    expect(parseDiskRoom(text)).toEqual(room);
    if (room !== undefined) expect(formatDiskRoom(room)).toBe(written);
  });

  test('a written value is read back', () => {
    fc.assert(
      fc.property(fc.nat(), (value) => {
        expect(parseDuration(formatDuration(value))).toBe(value);
        expect(parseSize(formatSize(value))).toBe(value);
      }),
    );
  });
});
