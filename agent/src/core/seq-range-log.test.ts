import type { Dot, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { SeqRangeLog } from './seq-range-log.ts';

const [ant, bee] = ['ant.a', 'bee.a'] as OriginId[] as [OriginId, OriginId];
const dots = (origin: OriginId, ...seqs: number[]): Dot[] => seqs.map((seq) => ({ origin, seq }));

test('it gives the time of the first event of an operation', () => {
  const log = new SeqRangeLog(10);
  log.addAll([...dots(ant, 3, 4, 5), ...dots(bee, 6), ...dots(ant, 9)], 100);
  log.addAll(dots(ant, 5, 6), 200);
  const at = (origin: OriginId, seq: number) => log.at({ origin, seq });
  expect([2, 3, 5, 6, 7, 9].map((seq) => at(ant, seq))).toEqual([undefined, 100, 100, 200, undefined, 100]);
  expect([5, 6, 7].map((seq) => at(bee, seq))).toEqual([undefined, 100, undefined]);
});

test('only the newest ranges are kept', () => {
  const log = new SeqRangeLog(3);
  for (let seq = 1; seq <= 10; seq++) log.add(ant, seq, seq, seq * 10);
  expect([1, 7, 8, 9, 10].map((seq) => log.at({ origin: ant, seq }))).toEqual([undefined, undefined, 80, 90, 100]);
  log.addAll([], 200);
  expect(log.at({ origin: ant, seq: 8 })).toBe(80);
});
