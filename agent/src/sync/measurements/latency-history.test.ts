import type { MemberId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LatencyHistory, type LatencyRow } from './latency-history.ts';

const [ant, bee, cat] = ['a', 'b', 'c'].map((letter) => letter.repeat(52)) as [MemberId, MemberId, MemberId];
const all = new Set([ant, bee, cat]);

function row(from: MemberId, ...rttsMs: readonly (readonly [to: MemberId, rttMs: number])[]): LatencyRow {
  return { from, rttsMs: new Map(rttsMs) };
}

/** Notes rows each second, as an agent does at each of its heartbeats. */
function beats(
  history: LatencyHistory,
  fromSeconds: number,
  toSeconds: number,
  rows: (second: number) => LatencyRow[],
) {
  for (let second = fromSeconds; second < toSeconds; second++) history.note(second * 1_000, all, rows(second));
}

test('[LT1] a sample of the present values is kept every ten seconds', () => {
  const history = new LatencyHistory();
  beats(history, 0, 35, (second) => [row(ant, [bee, second])]);
  expect(history.samples(ant, bee)).toEqual([
    { atMs: 0, rttMs: 0 },
    { atMs: 10_000, rttMs: 10 },
    { atMs: 20_000, rttMs: 20 },
    { atMs: 30_000, rttMs: 30 },
  ]);
  expect(history.now(ant, bee)).toEqual({ rttMs: 34, lastKnownMs: 34_000 });
});

test('[LT1] both directions are separate, and those that others reported are kept too', () => {
  const history = new LatencyHistory();
  history.note(0, all, [row(ant, [bee, 1.5]), row(bee, [ant, 1.4], [cat, 2.25])]);
  expect(history.now(ant, bee).rttMs).toBe(1.5);
  expect(history.now(bee, ant).rttMs).toBe(1.4);
  expect(history.samples(bee, cat)).toEqual([{ atMs: 0, rttMs: 2.25 }]);
  expect(history.now(cat, bee)).toEqual({ rttMs: undefined, lastKnownMs: undefined });
  expect(history.samples(cat, bee)).toEqual([]);
});

test('[LT1] a time without a session is a gap, and the time of the last one is known', () => {
  const history = new LatencyHistory();
  beats(history, 0, 15, () => [row(ant, [bee, 1])]);
  beats(history, 15, 25, () => [row(ant)]);
  expect(history.now(ant, bee)).toEqual({ rttMs: undefined, lastKnownMs: 14_000 });
  beats(history, 25, 35, () => [row(ant, [bee, 3])]);
  expect(history.samples(ant, bee).map(({ rttMs }) => rttMs)).toEqual([1, 1, undefined, 3]);
});

test('[LT1] an hour is kept and no more, and a pair begins with its first round trip', () => {
  const history = new LatencyHistory();
  beats(history, 0, 3_700, (second) => [row(ant, [bee, second], ...(second >= 3_600 ? [[cat, 7] as const] : []))]);
  const samples = history.samples(ant, bee);
  expect(samples).toHaveLength(360);
  expect(samples[0]).toEqual({ atMs: 100_000, rttMs: 100 });
  expect(samples.at(-1)).toEqual({ atMs: 3_690_000, rttMs: 3_690 });
  expect(history.samples(ant, cat)).toHaveLength(10);
});

test('[LT1] the pairs of a member that left are dropped; no member measures itself or an unknown one', () => {
  const history = new LatencyHistory();
  const stranger = 'd'.repeat(52) as MemberId;
  history.note(0, all, [row(ant, [bee, 1], [ant, 0], [stranger, 5]), row(stranger, [ant, 5]), row(bee, [ant, 1])]);
  expect(history.samples(ant, ant)).toEqual([]);
  expect(history.samples(ant, stranger)).toEqual([]);
  expect(history.samples(stranger, ant)).toEqual([]);
  history.note(1_000, new Set([ant, cat]), [row(ant, [cat, 2])]);
  expect(history.samples(ant, bee)).toEqual([]);
  expect(history.samples(bee, ant)).toEqual([]);
});

test('[LT1] a stall leaves a gap in time, without samples to fill it', () => {
  const history = new LatencyHistory();
  for (const second of [0, 1, 95, 96, 100, 104, 105]) history.note(second * 1_000, all, [row(ant, [bee, 1])]);
  expect(history.samples(ant, bee).map(({ atMs }) => atMs)).toEqual([0, 95_000, 105_000]);
});

test('small charts get as many means as they have room for, and no mean changes once the next has begun', () => {
  const history = new LatencyHistory();
  beats(history, 0, 300, (second) => [row(ant, [bee, second])]);
  expect(history.groupSize(60)).toBe(1);
  expect(history.thinned(ant, bee, 60)).toEqual(Array.from({ length: 30 }, (_, index) => index * 10));
  beats(history, 300, 3_600, (second) => [row(ant, ...(second % 60 < 30 ? [[bee, second] as const] : []))]);
  expect(history.groupSize(60)).toBe(6);
  const hour = history.thinned(ant, bee, 60);
  expect(hour).toHaveLength(60);
  expect(hour.slice(-2)).toEqual([3_490, 3_550]);
  beats(history, 3_600, 3_650, () => [row(ant, [bee, 1])]);
  expect(history.thinned(ant, bee, 60).slice(-2)).toEqual([3_550, 1]);
  beats(history, 3_650, 3_660 + 600, () => [row(ant)]);
  expect(history.thinned(ant, bee, 60).slice(-2)).toEqual([undefined, undefined]);
  expect(history.thinned(bee, ant, 60)).toEqual([]);
});
