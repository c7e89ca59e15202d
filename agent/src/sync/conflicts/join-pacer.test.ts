import { expect, test } from 'vitest';
import { JoinPacer } from './join-pacer.ts';

/** The times of the joins of a path that is contested continuously. */
function joins(forMs: number, everyMs: number): readonly number[] {
  const pacer = new JoinPacer(() => 0.5);
  const joined: number[] = [];
  for (let nowMs = 0; nowMs < forMs; nowMs += everyMs) {
    if (!pacer.allows('p', nowMs)) continue;
    pacer.joined('p', nowMs);
    joined.push(nowMs);
  }
  return joined;
}

test('[MG9] a path is joined at once the first times, and less and less often while it stays contested', () => {
  const times = joins(600_000, 10);
  expect(times.slice(0, 4)).toEqual([0, 10, 20, 1_020]);
  expect(times[4]).toBe(3_020);
  expect(times.length).toBeLessThan(20);
  expect(times.at(-1)).toBeGreaterThan(540_000);
});

test('[MG9] a path without joins for a minute is joined at once again, and other paths never wait', () => {
  expect(joins(900_000, 120_000)).toHaveLength(8);
  const pacer = new JoinPacer(() => 0.5);
  for (let index = 0; index < 5; index++) pacer.joined('p', 0);
  expect(pacer.allows('p', 100)).toBe(false);
  expect(pacer.allows('q', 100)).toBe(true);
});
