import { expect, test } from 'vitest';
import { SharedBlocks } from './shared-blocks.ts';

const unit = 131_072;

test('a unit counts once, from its first write on', () => {
  const blocks = new SharedBlocks(10 * unit);
  expect(blocks.bytesIn(unit - 1, unit + 1)).toBe(2 * unit);
  blocks.written(unit - 1, unit + 1);
  expect([blocks.bytes, blocks.bytesIn(0, 2 * unit), blocks.bytesIn(0, 3 * unit)]).toEqual([8 * unit, 0, unit]);
});

test('what is after the end, and an empty write, share nothing', () => {
  const blocks = new SharedBlocks(unit + 100);
  expect([blocks.bytesIn(unit, 5 * unit), blocks.bytesIn(3 * unit, 4 * unit), blocks.bytesIn(5, 5)]).toEqual([
    100, 0, 0,
  ]);
  expect(new SharedBlocks(0).bytesIn(0, unit)).toBe(0);
});

test('what is cut off is not shared any more, also if the file grows again', () => {
  const blocks = new SharedBlocks(4 * unit);
  blocks.written(3 * unit, 3 * unit + 1);
  blocks.truncate(unit + 10);
  expect(blocks.bytes).toBe(unit + 10);
  blocks.truncate(3 * unit);
  expect([blocks.bytes, blocks.bytesIn(0, 4 * unit)]).toEqual([unit + 10, unit + 10]);
  blocks.truncate(0);
  expect(blocks.bytes).toBe(0);
});
