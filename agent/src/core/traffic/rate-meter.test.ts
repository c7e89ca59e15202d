import { expect, test } from 'vitest';
import { RateMeter } from './rate-meter.ts';

test('[API7] the rate is the mean of the last five seconds', () => {
  const meter = new RateMeter();
  expect(meter.perSecond(0)).toBe(0);
  for (let ms = 0; ms < 20_000; ms += 100) meter.add(50, ms);
  expect(meter.total).toBe(10_000);
  expect(meter.lastMs).toBe(19_900);
  expect(meter.perSecond(20_000)).toBeCloseTo(500, -2);
});

test('[API7] an amount that has just begun is divided by at least a second', () => {
  const meter = new RateMeter();
  meter.add(1_000, 10);
  expect(meter.perSecond(11)).toBe(1_000);
  expect(meter.perSecond(2_010)).toBe(500);
});

test('[API7] a rate falls to 0 without amounts, and the gap does not lower a later one', () => {
  const meter = new RateMeter();
  meter.add(1_000, 0);
  expect(meter.perSecond(5_001)).toBe(0);
  meter.add(2_000, 60_000);
  expect(meter.perSecond(61_000)).toBe(2_000);
  expect(meter.total).toBe(3_000);
});

const mib = 1_048_576;

test.each<{ name: string; atMs: readonly number[]; nowMs: number; rate: number }>([
  { name: 'none yet', atMs: [], nowMs: 3_000, rate: 0 },
  { name: 'the first after 10 s', atMs: [10_000], nowMs: 10_000, rate: mib / 10 },
  { name: 'one every 10 s', atMs: [10_000, 20_000, 30_000, 40_000, 50_000], nowMs: 50_000, rate: mib / 10 },
  {
    name: 'one every 10 s, the last one 8 s ago',
    atMs: [10_000, 20_000, 30_000, 40_000, 50_000],
    nowMs: 58_000,
    rate: (4 * mib) / 48,
  },
  { name: 'the last one 20 s ago', atMs: [10_000, 20_000], nowMs: 40_000, rate: 0 },
  { name: 'two a second', atMs: Array.from({ length: 40 }, (_, n) => n * 500), nowMs: 19_500, rate: 2 * mib },
  { name: 'the first after a stall', atMs: [1_000, 2_000, 60_000], nowMs: 61_000, rate: mib / 2 },
])('[API7] the pace of blocks: $name', ({ atMs, nowMs, rate }) => {
  const meter = new RateMeter();
  for (const ms of atMs) meter.add(mib, ms);
  expect(meter.pace(nowMs, 0)).toBeCloseTo(rate, 3);
});

test('[API7] [CL23] the pace of what began a moment ago does not count earlier amounts as of that moment', () => {
  const meter = new RateMeter();
  meter.add(31 * mib, 1_000);
  for (const ms of [4_400, 4_700, 5_000, 5_300]) meter.add(mib, ms);
  expect(meter.pace(5_500, 4_400)).toBeCloseTo((35 * mib) / 4.5, 3);
});
