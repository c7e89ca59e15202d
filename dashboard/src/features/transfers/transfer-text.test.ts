import type { Resync } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { resyncStep } from './transfer-text.ts';

test('[DB-X4] the progress of a newcomer names its step and its source', () => {
  const resync: Resync = {
    member: 'c',
    name: 'cat',
    source: 'b',
    sourceName: 'bee',
    done: 300,
    total: 1_204,
    pending: 7,
    progress: null,
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
  const progress = { there: 1_000_000, total: 3_000_000, bytesPerSecond: 500_000, secondsLeft: 4 };
  expect(resyncStep({ ...resync, progress }, 900)).toEqual({
    value: 1_000_000,
    max: 3_000_000,
    text: '1 MB of 3 MB, 500 kB/s, 4 s left; the operations come from bee',
  });
});
