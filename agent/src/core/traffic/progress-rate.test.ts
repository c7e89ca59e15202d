import { expect, test } from 'vitest';
import { ProgressRate } from './progress-rate.ts';

/** The rate after samples that are a second apart. */
function after(there: readonly number[], own: (index: number) => number = () => 0): number | undefined {
  const rate = new ProgressRate();
  for (const [index, thereBytes] of there.entries()) rate.note({ thereBytes, ownBytes: own(index) }, index * 1_000);
  return rate.perSecond((there.length - 1) * 1_000);
}

const seconds = (count: number, there: (second: number) => number) => Array.from({ length: count }, (_, s) => there(s));
const mib = 1_048_576;

test.each<{ name: string; there: readonly number[]; rate: number | undefined }>([
  { name: 'no sample', there: [], rate: undefined },
  { name: 'too few seconds for a rate', there: [0, 100, 200, 300, 400], rate: undefined },
  { name: 'an even stream', there: seconds(30, (s) => s * 500), rate: 500 },
  {
    name: 'a stream that became faster 5 s ago',
    there: seconds(30, (s) => s * 100 + Math.max(0, s - 24) * 900),
    rate: 1_000,
  },
  { name: 'one block in 10 s', there: seconds(55, (s) => Math.floor(s / 10) * mib), rate: (4 * mib) / 44 },
  { name: 'nothing has arrived for 15 s', there: seconds(26, (s) => Math.min(s, 10) * 900), rate: 3_600 / 19 },
  { name: 'nothing has arrived for 20 s', there: seconds(31, (s) => Math.min(s, 10) * 900), rate: 0 },
  { name: 'nothing has arrived, and no time was given for it', there: seconds(15, () => 7), rate: undefined },
  { name: 'nothing has arrived at all for 20 s', there: seconds(21, () => 7), rate: 0 },
  { name: 'a stall of 30 s and 10 s of arrivals', there: seconds(50, (s) => Math.max(0, s - 39) * 700), rate: 700 },
  { name: 'a delete takes half away', there: seconds(11, (s) => s * 500 - (s >= 8 ? 4_000 : 0)), rate: 400 },
])('[SY41] the rate with $name', ({ there, rate }) => {
  const found = after(there);
  if (rate === undefined || found === undefined) expect(found).toBe(rate);
  else expect(found).toBeCloseTo(rate, 6);
});

test('[SY41] what the member wrote itself did not arrive', () => {
  expect(
    after(
      seconds(20, (s) => s * 600),
      (s) => s * 100,
    ),
  ).toBe(500);
});

test('[SY41] after a rest the rate counts from the next sample on', () => {
  const rate = new ProgressRate();
  for (let s = 0; s < 10; s++) rate.note({ thereBytes: s * 100, ownBytes: 0 }, s * 1_000);
  rate.rest();
  expect(rate.perSecond(10_000)).toBeUndefined();
  for (let s = 100; s < 110; s++) rate.note({ thereBytes: 5_000 + s * 10, ownBytes: 0 }, s * 1_000);
  expect(rate.perSecond(109_000)).toBe(10);
});
