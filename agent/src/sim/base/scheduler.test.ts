import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { CrashedError, Life } from './life.ts';
import { Random } from './random.ts';
import { Scheduler } from './scheduler.ts';

const scheduler = (seed = 1) => new Scheduler(new Random(seed));

describe('Scheduler', () => {
  test('runs tasks in the order of their times, independent of the order of scheduling', async () => {
    const delays = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 });
    await fc.assert(
      fc.asyncProperty(delays, fc.integer(), async (delaysMs, seed) => {
        const world = scheduler(seed);
        const seen: number[] = [];
        for (const delayMs of delaysMs) world.after(delayMs, () => seen.push(delayMs));
        expect(await world.run(1_000)).toBe('idle');
        expect(seen).toEqual(delaysMs.toSorted((a, b) => a - b));
        expect(world.nowMs).toBe(1_000);
      }),
    );
  });

  test('the seed determines the order of tasks at one time', async () => {
    const order = async (seed: number) => {
      const world = scheduler(seed);
      const seen: string[] = [];
      for (const name of 'abcdef') world.after(5, () => seen.push(name));
      await world.run(10);
      return seen.join('');
    };
    expect(await order(3)).toBe(await order(3));
    expect(new Set(await Promise.all([1, 2, 3, 4, 5, 6].map(order))).size).toBeGreaterThan(1);
  });

  test('all promises settle between two tasks, in chains of any length', async () => {
    const world = scheduler();
    let links = 0;
    const chain = async () => {
      for (; links < 1_000; links++) await Promise.resolve();
    };
    world.after(1, () => void chain());
    world.after(2, () => expect(links).toBe(1_000));
    expect(await world.run(10)).toBe('idle');
  });

  test('stops at a time, at a condition, and when a task throws', async () => {
    const world = scheduler();
    let count = 0;
    for (const delayMs of [1, 2, 3]) world.after(delayMs, () => count++);
    expect(await world.run(1)).toBe('time');
    expect(await world.run(10, () => count === 2)).toBe('condition');
    world.after(0, () => {
      throw new Error('broken');
    });
    await expect(world.run(10)).rejects.toThrow('broken');
  });

  test('a cancelled task does not run, nor one of a life that has ended', async () => {
    const world = scheduler();
    const life = new Life();
    const seen: string[] = [];
    world.after(1, () => seen.push('cancelled')).cancel();
    world.after(2, () => seen.push('dead'), life);
    void world.pause(2, life).then(() => seen.push('dead'));
    world.after(1, () => life.end());
    expect(await world.run(10)).toBe('idle');
    expect(seen).toEqual([]);
  });
});

describe('Life', () => {
  test('an armed crash happens between two effects, and nothing happens after it', async () => {
    const ends: string[] = [];
    const life = new Life(() => ends.push('crashed'));
    life.crashAfterEffects(2);
    life.effect();
    life.effect();
    expect(() => life.effect()).toThrow(CrashedError);
    expect(() => life.effect()).toThrow(CrashedError);
    expect([life.alive, life.effects, ends]).toEqual([false, 2, ['crashed']]);
  });
});
