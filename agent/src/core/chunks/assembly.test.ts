import { expect, test } from 'vitest';
import { fetchedBytes, longestFetched, partsOf } from './assembly.ts';

test('[CT25] chunks that adjoin in the old version are read as one part, and those that are not there are fetched as one', () => {
  const lengths = [10, 20, 30, 40, 50, 60];
  let offset = 0;
  const chunks = lengths.map((length) => {
    offset += length;
    return { offset: offset - length, length, hash: new Uint8Array(16) };
  });
  const parts = partsOf(chunks, [100, 110, -1, -1, 500, 0]);
  expect(parts).toEqual([
    { from: 'old', offset: 100, length: 30 },
    { from: 'source', offset: 30, length: 70 },
    { from: 'old', offset: 500, length: 50 },
    { from: 'old', offset: 0, length: 60 },
  ]);
  expect(fetchedBytes(parts)).toBe(70);
  expect(longestFetched([...parts, { from: 'source', offset: 150, length: 60 }])).toBe(70);
});
