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
