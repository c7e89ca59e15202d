import { expect, test } from 'vitest';
import { slopePerHour } from './slope.ts';

const every = (minutes: number, values: readonly number[]) =>
  values.map((value, index) => ({ atMs: 5_000 + index * minutes * 60_000, value }));

test.each([
  ['nothing measured', [], 0],
  ['measured once', every(1, [7]), 0],
  ['flat', every(10, [5, 5, 5, 5]), 0],
  ['one more every ten minutes', every(10, [1, 2, 3, 4]), 6],
  ['less and less', every(30, [9, 7, 5]), -4],
  ['up and down around a line', every(10, [0, 3, 2, 5]), 8.4],
])('the slope: %s', (_what, samples, slope) => {
  expect(slopePerHour(samples)).toBeCloseTo(slope);
});
