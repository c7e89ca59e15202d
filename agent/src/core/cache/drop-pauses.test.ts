import type { ContentId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { DropPauses } from './drop-pauses.ts';

const file = { path: 'a', content: 'b3:one' as ContentId };

/** How often the others are asked about the file from `fromMs` on, if it can never be dropped. */
function timesAsked(pauses: DropPauses, fromMs: number, forMs: number): number {
  let times = 0;
  for (let nowMs = fromMs; nowMs < fromMs + forMs; nowMs += 10) {
    if (pauses.has(file, nowMs)) continue;
    pauses.failed(file, nowMs, 0.5);
    times++;
  }
  return times;
}

test('[OD5] the pauses between the questions about a file grow from 50 ms to 2 s', () => {
  const pauses = new DropPauses();
  expect(timesAsked(pauses, 0, 1_000)).toBe(4);
  expect(timesAsked(pauses, 1_000, 60_000)).toBe(41);
});

test('[OD5] another version of a file, and one that was not asked about for 10 s, is asked about at once and soon again', () => {
  const pauses = new DropPauses();
  timesAsked(pauses, 0, 60_000);
  expect(pauses.has(file, 60_000)).toBe(true);
  expect(pauses.has({ ...file, content: 'b3:two' as ContentId }, 60_000)).toBe(false);
  expect(pauses.has({ ...file, path: 'b' }, 60_000)).toBe(false);
  expect(timesAsked(pauses, 75_000, 1_000)).toBe(4);
});
