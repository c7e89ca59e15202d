import type { MemberId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { TrafficLimit } from './traffic-limit.ts';

const [ant, bee, cat] = ['ant', 'bee', 'cat'] as MemberId[] as [MemberId, MemberId, MemberId];

/** Takes of a limit by members, and when they went, in milliseconds since the first one. Its clock begins at 06:56. */
class Bench {
  readonly member = new LoneMember();
  readonly clock = this.member.context.clock;
  readonly names = new Map<MemberId, string>([ant, bee, cat].map((id) => [id, id]));
  readonly limit = new TrafficLimit(this.member.context, (id) => this.names.get(id));
  readonly went: (readonly [member: string, atMs: number])[] = [];
  readonly #beganMs = this.clock.monotonicMs();

  take(member: MemberId, bytes: number): void {
    void this.limit.take(bytes, member).then(() => this.went.push([member, this.clock.monotonicMs() - this.#beganMs]));
  }
}

describe('[CT23] the limits of one direction', () => {
  test('a rule for a member limits only that one', async () => {
    const bench = new Bench();
    bench.limit.limit([{ bytesPerSecond: 1_000, member: 'cat' }]);
    for (let turn = 0; turn < 3; turn++) for (const member of [cat, bee]) bench.take(member, 1_000);
    expect(bench.limit.tryTake(1, cat)).toBe(false);
    expect(bench.limit.tryTake(1_000_000, ant)).toBe(true);
    await bench.member.passes(3_000);
    expect(bench.went.filter(([member]) => member === 'bee').map(([, atMs]) => atMs)).toEqual([0, 0, 0]);
    expect(bench.went.filter(([member]) => member === 'cat').map(([, atMs]) => atMs)).toEqual([0, 1_000, 2_000]);
  });

  test('a member that waits for its own limit does not use up that of all', async () => {
    const bench = new Bench();
    bench.limit.limit([{ bytesPerSecond: 1_000 }, { bytesPerSecond: 100, member: 'cat' }]);
    for (const member of [cat, cat, bee, bee, bee]) bench.take(member, 1_000);
    await bench.member.passes(20_000);
    expect(bench.went).toEqual([
      ['cat', 0],
      ['bee', 1_000],
      ['bee', 2_000],
      ['bee', 3_000],
      ['cat', 10_000],
    ]);
  });

  test('bytes that the limit of all keeps back are not taken from that of the member', async () => {
    const bench = new Bench();
    bench.limit.limit([{ bytesPerSecond: 1_000 }, { bytesPerSecond: 1_000, member: 'cat' }]);
    expect(bench.limit.tryTake(500, bee)).toBe(true);
    expect(bench.limit.tryTake(500, cat)).toBe(false);
    await bench.member.passes(500);
    expect(bench.limit.tryTake(500, cat)).toBe(true);
  });

  test('the hours of the local clock begin and end it within a second, also for what waits', async () => {
    const bench = new Bench();
    bench.limit.limit([{ bytesPerSecond: 1_000, hours: { from: 417, to: 418 } }]);
    const passes = async (seconds: number): Promise<void> => {
      for (let second = 0; second < seconds; second++) {
        await bench.member.passes(1_000);
        bench.member.context.facts.second.publish();
      }
    };
    for (let turn = 0; turn < 3; turn++) bench.take(bee, 1_000_000);
    expect(bench.limit.spans()).toEqual([
      { bytesPerSecond: Number.POSITIVE_INFINITY, until: 417 },
      { bytesPerSecond: 1_000, until: 418 },
    ]);
    await passes(61);
    expect(bench.went).toHaveLength(3);
    for (let turn = 0; turn < 3; turn++) bench.take(bee, 1_000_000);
    await passes(30);
    expect(bench.went).toHaveLength(4);
    expect(bench.limit.delaying()).toEqual([undefined]);
    await passes(30);
    expect(bench.went).toHaveLength(6);
    expect(bench.limit.delaying()).toEqual([]);
  });

  test('other rules hold at once, and a member that has another name is limited by that', async () => {
    const bench = new Bench();
    bench.limit.limit([{ bytesPerSecond: 1, member: 'cat' }]);
    for (let turn = 0; turn < 2; turn++) bench.take(cat, 1_000_000);
    await bench.member.passes(1_000);
    expect(bench.limit.delaying()).toEqual(['cat']);
    bench.names.set(cat, 'cow');
    expect(bench.limit.tryTake(1_000_000, cat)).toBe(true);
    bench.limit.limit([{ bytesPerSecond: 1, member: 'cow' }]);
    expect(bench.limit.tryTake(1_000_000, cat)).toBe(true);
    expect(bench.limit.tryTake(1, cat)).toBe(false);
    bench.limit.limit([]);
    expect(bench.limit.tryTake(1, cat)).toBe(true);
    await bench.member.passes(0);
    expect(bench.went).toHaveLength(2);
  });
});

test('[CT24] a limit counts as one that delays while something waits, and for two seconds afterwards', async () => {
  const bench = new Bench();
  bench.limit.limit([{ bytesPerSecond: 1_000 }, { bytesPerSecond: 500, member: 'cat' }]);
  expect(bench.limit.delaying()).toEqual([]);
  for (let turn = 0; turn < 2; turn++) bench.take(cat, 500);
  expect(bench.limit.delaying()).toEqual(['cat']);
  await bench.member.passes(2_999);
  expect(bench.limit.delaying()).toEqual(['cat']);
  await bench.member.passes(2);
  expect(bench.limit.delaying()).toEqual([]);
});
