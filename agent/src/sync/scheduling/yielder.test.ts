import { expect, test } from 'vitest';
import type { Clock } from '../ports/clock.ts';
import { Yielder } from './yielder.ts';

/** A clock that only the test advances. */
class ManualClock implements Clock {
  nowMs = 1_000;
  turns = 0;
  wallMs(): number {
    return this.nowMs;
  }
  monotonicMs(): number {
    return this.nowMs;
  }
  localMinute(): number {
    return 0;
  }
  after(_delayMs: number, run: () => void): { cancel(): void } {
    this.turns += 1;
    run();
    return { cancel: () => undefined };
  }
  random(): number {
    return 0.5;
  }
}

test('[MB5] a loop yields every 10 ms, and not more often', async () => {
  const clock = new ManualClock();
  const yielder = new Yielder(clock);
  for (let step = 0; step < 100; step++) {
    clock.nowMs += 2;
    await yielder.maybeYield();
  }
  expect(clock.turns).toBe(20);
});

test('[MB5] a pass is followed by a rest as long as the time that it wasted, up to a limit', () => {
  const clock = new ManualClock();
  const yielder = new Yielder(clock);
  const passFor = (wastedMs: number): number => {
    const sinceMs = clock.nowMs;
    clock.nowMs += wastedMs;
    yielder.wasted(sinceMs);
    yielder.passed();
    return yielder.restMs;
  };
  expect(passFor(5)).toBe(0);
  expect(passFor(300)).toBe(300);
  clock.nowMs += 299;
  expect(yielder.restMs).toBe(1);
  clock.nowMs += 1;
  expect(yielder.restMs).toBe(0);
  expect(passFor(60_000)).toBe(5_000);
});
