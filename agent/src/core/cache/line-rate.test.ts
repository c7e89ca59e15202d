import { expect, test } from 'vitest';
import { LineRate } from './line-rate.ts';

test('[OD17] the fastest of the last fetches says what the line brings', () => {
  const rate = new LineRate();
  expect(rate.bytesWithin(200)).toBeUndefined();
  rate.fetched(100_000, 100);
  rate.fetched(1_000_000, 100);
  expect(rate.bytesWithin(200)).toBe(2_000_000);
  for (let index = 0; index < 16; index++) rate.fetched(100_000, 1_000);
  expect(rate.bytesWithin(200)).toBe(20_000);
});

test('[OD17] small files alone show too little, and a file at once does not divide by zero', () => {
  const rate = new LineRate();
  rate.fetched(10_000, 20);
  expect(rate.bytesWithin(200)).toBe(400_000);
  rate.fetched(10_000, 0);
  expect(rate.bytesWithin(1)).toBe(40_000);
});
