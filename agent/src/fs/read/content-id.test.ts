import { blockBytes } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import {
  blockHash,
  contentFileName,
  contentOfFileName,
  expectedBlock,
  fitsContent,
  hashBytes,
  isBlock,
} from './content-id.ts';

function bytesOfSize(size: number): Uint8Array {
  return new Uint8Array(size).map((_, index) => (index * 31) >> 5);
}

test('[CT1] the content id of the empty file is the published BLAKE3 hash of no bytes', () => {
  expect(hashBytes(new Uint8Array())).toEqual({
    content: 'b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262',
  });
});

describe.each([1, blockBytes, blockBytes + 1, 2 * blockBytes, 2 * blockBytes + 7])('content of %i bytes', (size) => {
  const bytes = bytesOfSize(size);
  const hashed = hashBytes(bytes);
  const count = Math.ceil(size / blockBytes);

  test('[CT1] [CT2] a file of two or more blocks has a hash for each', () => {
    expect(hashed.content.startsWith(count === 1 ? 'b3:' : 'b3t:')).toBe(true);
    expect(hashed.blocks?.length).toBe(count === 1 ? undefined : count * 32);
    expect(fitsContent(hashed.content, hashed.blocks, size)).toBe(true);
  });

  test('[CT2] each block is distinguished from others', () => {
    for (let index = 0; index < count; index++) {
      const block = expectedBlock({ ...hashed, size, index });
      const right = bytes.slice(index * blockBytes, (index + 1) * blockBytes);
      expect(isBlock(blockHash, right, block)).toBe(true);
      expect(isBlock(blockHash, right.subarray(1), block)).toBe(false);
      right[0] = (right[0] ?? 0) + 1;
      expect(isBlock(blockHash, right, block)).toBe(false);
    }
    expect(() => expectedBlock({ ...hashed, size, index: count })).toThrow(RangeError);
  });

  test('a list of hashes of another content does not fit', () => {
    const other = hashed.blocks?.slice();
    if (other) other[0] = (other[0] ?? 0) + 1;
    if (other) expect(fitsContent(hashed.content, other, size)).toBe(false);
    expect(fitsContent(hashed.content, hashed.blocks, size + blockBytes)).toBe(false);
  });
});

test('a content has exactly one file name', () => {
  const { content } = hashBytes(bytesOfSize(3));
  expect(contentOfFileName(contentFileName(content))).toBe(content);
  for (const name of ['t1-4', 'b3-', content, `${contentFileName(content)}~`]) {
    expect(contentOfFileName(name)).toBeUndefined();
  }
});
