import { expect, test } from 'vitest';
import { DeliveryRate } from './delivery-rate.ts';

/** A rate after `bytes` came every 100 ms, `count` times. */
function measured(bytes: number, count: number): DeliveryRate {
  const rate = new DeliveryRate();
  rate.asked(0, 0);
  for (let step = 1; step <= count; step++) rate.came(bytes, step * 100, false);
  return rate;
}

test('is unknown until something came, and then the mean', () => {
  expect(new DeliveryRate().bytesPerMs).toBeUndefined();
  expect(measured(200_000, 1).bytesPerMs).toBe(2_000);
  expect(measured(200_000, 30).bytesPerMs).toBeCloseTo(2_000);
});

test('the time before the first bytes can come does not count, nor that in which nothing is requested', () => {
  const rate = new DeliveryRate();
  rate.asked(0, 100);
  rate.came(100_000, 200, true);
  expect(rate.bytesPerMs).toBe(1_000);
  rate.came(50, 5_000, false);
  expect(rate.bytesPerMs).toBe(1_000);
  rate.asked(10_000, 100);
  rate.came(100_000, 10_200, true);
  expect(rate.bytesPerMs).toBe(1_000);
});

test('follows a change within a second or two', () => {
  const rate = measured(1_000_000, 50);
  for (let step = 1; step <= 20; step++) rate.came(100_000, 5_000 + step * 100, false);
  expect(rate.bytesPerMs).toBeLessThan(2_500);
  expect(rate.bytesPerMs).toBeGreaterThan(1_000);
});

test('behind a limit, where a block comes at once each 16 seconds, it is about the mean', () => {
  const rate = new DeliveryRate();
  rate.asked(0, 0);
  for (let step = 1; step <= 400; step++) {
    rate.came(step % 80 === 0 ? 1_048_576 : 0, step * 200, false);
    if (step > 80) expect(rate.bytesPerMs).toBeGreaterThan(65.5 / 2);
    if (step > 80) expect(rate.bytesPerMs).toBeLessThan(65.5 * 2);
  }
});

test('blocks that are read from the socket together are one sample', () => {
  const rate = new DeliveryRate();
  rate.asked(0, 0);
  rate.came(100_000, 100, false);
  for (let block = 0; block < 5; block++) rate.came(20_000, 101, false);
  expect(rate.bytesPerMs).toBe(1_000);
  rate.came(0, 200, false);
  expect(rate.bytesPerMs).toBeCloseTo(1_000);
});

test('[CT22] the silence of a source lasts since its last bytes, or since it could first answer', () => {
  const rate = new DeliveryRate();
  expect(rate.silentMs(1_000)).toBe(0);
  rate.asked(1_000, 200);
  expect([rate.silentMs(1_100), rate.silentMs(1_500)]).toEqual([0, 300]);
  rate.came(10, 1_600, false);
  rate.came(0, 2_000, false);
  expect(rate.silentMs(2_100)).toBe(500);
  // This member itself stood still.
  rate.skip(400);
  expect(rate.silentMs(2_100)).toBe(100);
  rate.came(10, 2_200, true);
  expect(rate.silentMs(9_000)).toBe(0);
});
