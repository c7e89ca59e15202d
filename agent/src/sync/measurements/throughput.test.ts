import { throughputHistoryMs, throughputSampleMs } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { ThroughputHistory } from './throughput.ts';

const totals = (operations: number, receivedBytes = 0, sentBytes = 0) => ({ operations, receivedBytes, sentBytes });

test('[API13] each sample is the growth in its interval, however often the counters are noted', () => {
  const history = new ThroughputHistory();
  for (let second = 0; second <= 30; second++) history.note(second * 1_000, totals(second, second * 2, second * 3));
  expect(history.samples).toEqual([
    { atMs: 10_000, operations: 10, receivedBytes: 20, sentBytes: 30 },
    { atMs: 20_000, operations: 10, receivedBytes: 20, sentBytes: 30 },
    { atMs: 30_000, operations: 10, receivedBytes: 20, sentBytes: 30 },
  ]);
});

test('[API13] the last ten minutes are kept, and no counter that shrinks gives a negative sample', () => {
  const history = new ThroughputHistory();
  for (let at = 0; at <= 2 * throughputHistoryMs; at += throughputSampleMs) history.note(at, totals(0, -at, at));
  expect(history.samples).toHaveLength(throughputHistoryMs / throughputSampleMs);
  expect(history.samples.at(-1)).toEqual({
    atMs: 2 * throughputHistoryMs,
    operations: 0,
    receivedBytes: 0,
    sentBytes: throughputSampleMs,
  });
});
