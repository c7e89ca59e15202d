import { expect, test } from 'vitest';
import { sparklinePath } from './sparkline-path.ts';

test.each<[string, (number | null)[], string | undefined]>([
  ['nothing', [], undefined],
  ['only gaps', [null, null], undefined],
  ['a rising line', [0, 5, 10], 'M0 10L0 10L10 5L20 0'],
  ['a gap', [10, null, 10], 'M0 0L0 0M20 0L20 0'],
  ['all zero', [0, 0], 'M0 10L0 10L20 10'],
  ['one sample', [3], 'M0 0L0 0'],
])('[DB-O3] the line of %s', (_, samples, expected) => {
  expect(sparklinePath(samples, 20, 10)).toBe(expected);
});
