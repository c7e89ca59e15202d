import type { Resync } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { progressText, rateText, resyncStep, timeLeftText } from './transfer-text.ts';

test('[DB-X3] a transfer is described in readable units', () => {
  expect(progressText({ done: 64_000_000, size: 200_000_000 })).toBe('64 MB of 200 MB');
  expect(rateText(37_772_913)).toBe('37.8 MB/s');
  expect(rateText(0)).toBe('–');
  expect(timeLeftText(null)).toBeUndefined();
  expect(timeLeftText(0.4)).toBe('a moment left');
  expect(timeLeftText(135)).toBe('2 min left');
});

test('[DB-X4] the progress of a newcomer names its step and its source', () => {
  const resync: Resync = {
    member: 'c',
    name: 'cat',
    source: 'b',
    sourceName: 'bee',
    done: 300,
    total: 1_204,
    pending: 7,
  };
  expect(resyncStep(resync, 900)).toEqual({ value: 300, max: 1_204, text: '300 of 1,204 operations from bee' });
  expect(resyncStep({ ...resync, done: 1_204 }, 900)).toEqual({
    value: 893,
    max: 900,
    text: '7 paths still to be written to its disk; the operations came from bee',
  });
  const own = { ...resync, source: null, sourceName: null, done: 0, total: 0 };
  expect(resyncStep({ ...own, pending: 1 }, 0)).toMatchObject({
    value: 0,
    max: 1,
    text: '1 path still to be written to its disk',
  });
  expect(resyncStep({ ...own, pending: 0 }, 5)).toMatchObject({ value: 5, max: 5 });
});
