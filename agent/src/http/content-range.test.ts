import { expect, test } from 'vitest';
import { writtenRange } from './content-range.ts';

test.each([
  ['bytes 0-0/*', { start: 0, end: 1, total: undefined }],
  ['bytes 0-99/100', { start: 0, end: 100, total: 100 }],
  ['Bytes  5-9/1000', { start: 5, end: 10, total: 1_000 }],
  [' bytes 549755813886-549755813887/549755813888 ', { start: 2 ** 39 - 2, end: 2 ** 39, total: 2 ** 39 }],
])('[FA7] %s is a part of a file', (header, range) => {
  expect(writtenRange(header)).toEqual(range);
});

test.each([
  undefined,
  '',
  'bytes',
  'bytes */100',
  'bytes 5-4/*',
  'bytes 0-9',
  'bytes=0-9/*',
  'bytes 0-/*',
  'bytes -5/*',
  'bytes 0-9/*, 20-29/*',
  'bytes 1.5-9/*',
  'lines 0-9/*',
])('[FA7] %s is none', (header) => {
  expect(() => writtenRange(header)).toThrow(/bytes FIRST-LAST/);
});

test('[FA7] a part that ends behind the end of its file is refused with a sentence about these numbers', () => {
  const refusal =
    /^Content-Range names the bytes up to number 3, and says that the file then has only 2: .* write the size of the whole file, or \*\.$/;
  expect(() => writtenRange('bytes 0-3/2')).toThrow(refusal);
});
