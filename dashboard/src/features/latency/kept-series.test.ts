import { expect, test } from 'vitest';
import { keptSeries } from './kept-series.ts';

const minute = 60_000;
const point = (index: number, mean: number | null, most = mean) => ({ at: index * minute, mean, least: mean, most });

test('[DB-L7] a time without a session is a gap, and one in which the agent did not run is not', () => {
  const points = [point(0, 2), point(1, null), point(2, null), point(3, 4, 9), point(30, 6)];
  const series = keptSeries({ from: 0, until: 31 * minute, everyMs: minute, points }, 'ant');
  expect(series.gaps).toEqual([[minute, 3 * minute]]);
  expect(series.values).toEqual([2, null, null, 4, null, 6]);
  expect(series.peaks).toEqual([2, null, null, 9, null, 6]);
  expect(series.summary).toEqual({ mean: '4 ms', least: '2 ms', most: '9 ms' });
  expect(series.missing).toBe('There was no session for 2 min. 26 min are not known: ant did not run.');
});

test('[DB-L7] without a measurement there is no summary', () => {
  expect(keptSeries({ from: 0, until: minute, everyMs: minute, points: [] }, 'ant').summary).toBeUndefined();
});
