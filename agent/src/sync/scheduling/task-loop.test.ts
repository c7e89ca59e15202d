import { beforeEach, describe, expect, test } from 'vitest';
import { Random } from '../../sim/base/random.ts';
import { Scheduler } from '../../sim/base/scheduler.ts';
import type { Clock } from '../ports/clock.ts';
import { TaskLoop } from './task-loop.ts';

let scheduler: Scheduler;
let clock: Clock;
/** When each run began. */
let begun: number[];
/** The actions of the next runs. */
let runs: (() => Promise<void> | void)[];
let failures: unknown[];

function loopWith(delayMs?: () => number): TaskLoop {
  const run = (): Promise<void> | void => {
    begun.push(scheduler.nowMs);
    return runs.shift()?.();
  };
  return new TaskLoop({ clock, run, delayMs, failed: (error) => failures.push(error), retryMs: 500 });
}

const passes = (ms: number): Promise<unknown> => scheduler.run(scheduler.nowMs + ms);

beforeEach(() => {
  scheduler = new Scheduler(new Random(1));
  clock = {
    wallMs: () => scheduler.nowMs,
    monotonicMs: () => scheduler.nowMs,
    localMinute: () => 0,
    after: (delayMs, run) => scheduler.after(delayMs, run),
    random: () => 0,
  };
  begun = [];
  runs = [];
  failures = [];
});

describe('TaskLoop', () => {
  test('runs within the call that pokes it, and once more when it was poked meanwhile, however often', async () => {
    const loop = loopWith();
    runs = [() => scheduler.pause(10)];
    loop.poke();
    expect(begun).toEqual([0]);
    loop.poke();
    loop.poke();
    await passes(100);
    expect(begun).toEqual([0, 10]);
  });

  test('collects pokes for its delay, which begins at the end of a run', async () => {
    const loop = loopWith(() => 20);
    runs = [() => scheduler.pause(15)];
    loop.poke();
    await passes(10);
    loop.poke();
    await passes(15);
    loop.poke();
    await passes(100);
    expect(begun).toEqual([20, 55]);
  });

  test('runs at the earliest of several moments', async () => {
    const loop = loopWith();
    loop.in(50);
    loop.in(30);
    loop.in(40);
    await passes(100);
    expect(begun).toEqual([30]);
  });

  test.each([
    ['throws', () => fail()],
    ['rejects', () => Promise.reject(new Error('broken'))],
  ])('tries again after a task that %s', async (_how, task) => {
    const loop = loopWith();
    runs = [task];
    loop.poke();
    await passes(1_000);
    expect(begun).toEqual([0, 500]);
    expect(failures).toMatchObject([{ message: 'broken' }]);
  });

  test('begins no run after it was stopped, and does not report one that fails then', async () => {
    const loop = loopWith();
    runs = [() => scheduler.pause(10).then(fail)];
    loop.poke();
    loop.poke();
    loop.in(5);
    loop.stop();
    let hasEnded = false;
    const ended = loop.ended().then(() => {
      hasEnded = true;
    });
    await passes(9);
    expect(hasEnded).toBe(false);
    await passes(1_000);
    await ended;
    loop.poke();
    expect([hasEnded, begun, failures]).toEqual([true, [0], []]);
  });
});

function fail(): never {
  throw new Error('broken');
}
