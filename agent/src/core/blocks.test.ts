import { blockBytes, fileBytesMax } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockCount, blockHashBytes, blockRange, hashOfBlock } from './blocks.ts';

describe('[CT2] blocks of a file', () => {
  const cases = [
    { name: 'empty', size: 0, count: 1, last: { offset: 0, length: 0 } },
    { name: 'one byte', size: 1, count: 1, last: { offset: 0, length: 1 } },
    { name: 'a block less a byte', size: blockBytes - 1, count: 1, last: { offset: 0, length: blockBytes - 1 } },
    { name: 'exactly a block', size: blockBytes, count: 1, last: { offset: 0, length: blockBytes } },
    { name: 'a block and one byte', size: blockBytes + 1, count: 2, last: { offset: blockBytes, length: 1 } },
    { name: 'two blocks', size: 2 * blockBytes, count: 2, last: { offset: blockBytes, length: blockBytes } },
    {
      name: 'the largest file',
      size: fileBytesMax,
      count: fileBytesMax / blockBytes,
      last: { offset: fileBytesMax - blockBytes, length: blockBytes },
    },
  ];
  test.each(cases)('$name', ({ size, count, last }) => {
    expect(blockCount(size)).toBe(count);
    expect(blockRange(size, count - 1)).toEqual(last);
    expect(() => blockRange(size, count)).toThrow(RangeError);
    expect(() => blockRange(size, -1)).toThrow(RangeError);
  });

  test('the ranges join without a gap and cover the file', () => {
    fc.assert(
      fc.property(fc.nat(40 * blockBytes), (size) => {
        let end = 0;
        for (let index = 0; index < blockCount(size); index++) {
          const { offset, length } = blockRange(size, index);
          expect(offset).toBe(end);
          end += length;
        }
        expect(end).toBe(size);
      }),
    );
  });
});

test('[CT2] each block has its own hash', () => {
  const blocks = Uint8Array.from({ length: 3 * blockHashBytes }, (_, index) => Math.floor(index / blockHashBytes));
  expect([...hashOfBlock(blocks, 2)]).toEqual(Array(blockHashBytes).fill(2));
  expect(hashOfBlock(blocks, 1).buffer).toBe(blocks.buffer);
  expect(() => hashOfBlock(blocks, 3)).toThrow(RangeError);
  expect(() => hashOfBlock(blocks, -1)).toThrow(RangeError);
});
