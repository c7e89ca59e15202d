import type { MemberId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { Arrivals } from './arrivals.ts';

const [bee, cat] = ['b'.repeat(32), 'c'.repeat(32)] as MemberId[] as [MemberId, MemberId];

test('[API7] bytes are counted by where they came from', () => {
  const arrivals = new Arrivals();
  arrivals.resume(100);
  arrivals.reuse(20);
  arrivals.came(3, bee, 1_000);
  expect(arrivals.done).toBe(123);
  expect(arrivals.reused).toBe(20);
  expect(arrivals.lastMs).toBe(1_000);
});

test('[API7] the members that send are listed, the fastest first, until they have sent nothing for five seconds', () => {
  const arrivals = new Arrivals();
  for (let ms = 0; ms <= 5_000; ms += 100) {
    arrivals.came(10, bee, ms);
    arrivals.came(30, cat, ms);
  }
  expect(arrivals.rates(5_000).map(({ member }) => member)).toEqual([cat, bee]);
  expect(arrivals.rates(5_000)[0]?.bytesPerSecond).toBeCloseTo(300, -2);
  arrivals.came(10, bee, 9_000);
  expect(arrivals.rates(10_500).map(({ member }) => member)).toEqual([bee]);
  expect(arrivals.rates(60_000)).toEqual([]);
});

test('[API7] nothing arrives any more once the sessions with all members that sent some have ended', () => {
  const arrivals = new Arrivals();
  expect(arrivals.areEnded).toBe(false);
  for (let ms = 0; ms <= 5_000; ms += 100) {
    arrivals.came(10, bee, ms);
    arrivals.came(30, cat, ms);
  }
  arrivals.ended(cat);
  expect(arrivals.rates(5_000).map(({ member }) => member)).toEqual([bee]);
  expect(arrivals.pace(5_000, 0)).toBeGreaterThan(0);
  arrivals.ended(bee);
  expect(arrivals.rates(5_000)).toEqual([]);
  expect([arrivals.areEnded, arrivals.pace(5_000, 0)]).toEqual([true, 0]);
  arrivals.came(10, cat, 5_100);
  expect(arrivals.pace(5_200, 0)).toBeGreaterThan(0);
});
