import { expect, test } from 'vitest';
import { heatOf } from './latency-heat.ts';

test.each([
  [0.2, 0],
  [1, 1],
  [19.9, 2],
  [20, 3],
  [250, 5],
  [9_000, 5],
])('%d ms has the heat %d', (rttMs, heat) => {
  expect(heatOf(rttMs)).toBe(heat);
});
