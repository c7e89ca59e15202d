import { expect, test } from 'vitest';
import { gapsOf, latencySeries, summarise } from './latency-series.ts';

const sample = (at: number, rttMs: number | null) => ({ at, rttMs });

test('[DB-L3] the line continues from the last sample to the current value', () => {
  const history = { everyMs: 10_000, samples: [sample(10_000, 1), sample(20_000, 2)] };
  expect(latencySeries(history, { at: 24_000, rttMs: 3 })).toEqual({ at: [10_000, 20_000, 24_000], values: [1, 2, 3] });
  expect(latencySeries(history, { at: 19_000, rttMs: 3 })).toEqual({ at: [10_000, 20_000], values: [1, 2] });
});

test('[DB-L6] a value that is not current is no point of the line, and no gap either', () => {
  const history = { everyMs: 10_000, samples: [sample(10_000, 1), sample(20_000, 2)] };
  expect(latencySeries(history, undefined)).toEqual({ at: [10_000, 20_000], values: [1, 2] });
});

test('[DB-L3] no line is drawn across a time without measurements', () => {
  const history = { everyMs: 10_000, samples: [sample(10_000, 1), sample(90_000, 2)] };
  expect(latencySeries(history, { at: 91_000, rttMs: undefined })).toEqual({
    at: [10_000, 20_000, 90_000, 91_000],
    values: [1, null, 2, null],
  });
});

test('[DB-L3] the line is summarised in numbers', () => {
  const series = { at: [0, 10_000, 20_000, 30_000, 100_000], values: [5, null, null, 1, 2] };
  expect(gapsOf(series)).toEqual([[10_000, 30_000]]);
  expect(summarise(series)).toEqual({
    least: '1 ms',
    median: '2 ms',
    most: '5 ms',
    gaps: 'There was no session for 20 s of this time.',
  });
  expect(summarise({ at: [0], values: [null] })).toBeUndefined();
  expect(gapsOf({ at: [0, 10_000], values: [1, null] })).toEqual([[10_000, 10_000]]);
});
