import { describe, expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { RateLimit } from './rate-limit.ts';

/** Takes of a limit, and when they went, in milliseconds since the first one. */
class Bench {
  readonly member = new LoneMember();
  readonly clock = this.member.context.clock;
  readonly limit: RateLimit;
  readonly went: (readonly [name: string, atMs: number])[] = [];
  readonly #beganMs = this.clock.monotonicMs();

  constructor(bytesPerSecond?: number) {
    this.limit = new RateLimit(this.clock, bytesPerSecond);
  }

  take(name: string, bytes: number): void {
    void this.limit.take(bytes).then(() => this.went.push([name, this.clock.monotonicMs() - this.#beganMs]));
  }
}

describe('[CT20] a limit of the rate', () => {
  test('lets the first bytes go at once, and each later one when those before it are paid', async () => {
    const bench = new Bench(1_000);
    for (const name of ['a', 'b', 'c']) bench.take(name, 500);
    await bench.member.passes(2_000);
    expect(bench.went).toEqual([
      ['a', 0],
      ['b', 500],
      ['c', 1_000],
    ]);
    // A pause is not saved up.
    await bench.member.passes(60_000);
    expect(bench.limit.tryTake(500)).toBe(true);
    expect(bench.limit.tryTake(1)).toBe(false);
    await bench.member.passes(500);
    expect(bench.limit.tryTake(1)).toBe(true);
  });

  test('keeps the order: none goes before one that waits', async () => {
    const bench = new Bench(1_000);
    bench.take('a', 1_000);
    bench.take('b', 1);
    expect(bench.limit.tryTake(1)).toBe(false);
    bench.take('c', 0);
    await bench.member.passes(1_010);
    expect(bench.went.map(([name]) => name)).toEqual(['a', 'b', 'c']);
  });

  test('bytes that will not go any more delay nothing', async () => {
    const bench = new Bench(1_000);
    bench.take('a', 1_000);
    let isOver = false;
    void bench.limit.take(5_000, () => isOver);
    bench.take('c', 1_000);
    isOver = true;
    await bench.member.passes(1_010);
    expect(bench.went.map(([name]) => name)).toEqual(['a', 'c']);
  });

  test('can be changed while bytes wait, in both directions, and taken away', async () => {
    const bench = new Bench(1_000);
    bench.take('a', 10_000);
    bench.take('b', 10_000);
    bench.take('c', 10_000);
    await bench.member.passes(5_000);
    bench.limit.limit(10_000);
    await bench.member.passes(499);
    expect(bench.went.map(([name]) => name)).toEqual(['a']);
    await bench.member.passes(2);
    expect(bench.went.map(([name]) => name)).toEqual(['a', 'b']);
    bench.limit.limit(1);
    await bench.member.passes(1_000_000);
    expect(bench.went.map(([name]) => name)).toEqual(['a', 'b']);
    bench.limit.limit(Number.POSITIVE_INFINITY);
    await bench.member.passes(0);
    expect(bench.went.map(([name]) => name)).toEqual(['a', 'b', 'c']);
  });

  test('without one, everything goes', () => {
    const { limit } = new Bench();
    for (let taken = 0; taken < 100; taken++) expect(limit.tryTake(1e9)).toBe(true);
  });
});
