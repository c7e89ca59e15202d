import { beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../../sim/base/random.ts';
import { Scheduler } from '../../sim/base/scheduler.ts';
import { Interval } from './interval.ts';

let scheduler: Scheduler;
let ranAtMs: number[];
let interval: Interval;

const passes = (ms: number): Promise<unknown> => scheduler.run(scheduler.nowMs + ms);

beforeEach(() => {
  scheduler = new Scheduler(new Random(1));
  ranAtMs = [];
  const clock = {
    wallMs: () => scheduler.nowMs,
    monotonicMs: () => scheduler.nowMs,
    localMinute: () => 0,
    after: (delayMs: number, run: () => void) => scheduler.after(delayMs, run),
    random: () => 0,
  };
  interval = new Interval(clock, 100, () => ranAtMs.push(scheduler.nowMs));
});

describe('Interval', () => {
  test('runs its task at each interval until the stop', async () => {
    interval.start();
    await passes(350);
    interval.stop();
    await passes(1_000);
    expect(ranAtMs).toEqual([100, 200, 300]);
  });

  test('begins the present interval again when its length changes', async () => {
    interval.start();
    await passes(90);
    interval.every(50);
    await passes(110);
    interval.every(50);
    await passes(20);
    expect(ranAtMs).toEqual([140, 190]);
  });

  test('does not start by a change of its length, before the start or after the stop', async () => {
    interval.every(50);
    await passes(200);
    interval.start();
    interval.stop();
    interval.every(20);
    await passes(200);
    expect(ranAtMs).toEqual([]);
  });
});
