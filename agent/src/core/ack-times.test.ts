import type { Applied, OriginId, SeqRange } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { AckTimes } from './ack-times.ts';

const ant = 'ant.a' as OriginId;

function applied(upTo: number, ...ranges: SeqRange[]): Applied {
  return { vector: upTo === 0 ? {} : { [ant]: upTo }, ranges: ranges.length === 0 ? {} : { [ant]: ranges } };
}

describe('[JY2] when this member learned that another has an operation', () => {
  test.each<[string, Applied[], (number | undefined)[]]>([
    ['no acknowledgement came', [], [undefined, undefined, undefined]],
    ['operations of the first acknowledgement are of unknown age', [applied(3)], [undefined, undefined, undefined]],
    [
      'each acknowledgement gives its time to what is new in it',
      [applied(1), applied(2), applied(3)],
      [undefined, 1, 2],
    ],
    ['an origin that was not there is new from its beginning', [applied(0), applied(2)], [1, 1, undefined]],
    ['a range counts before the vector reaches it', [applied(0), applied(0, [3, 3]), applied(3)], [2, 2, 1]],
    ['several ranges', [applied(0), applied(0, [1, 1], [3, 3]), applied(3)], [1, 2, 1]],
    ['a range that grows on both sides', [applied(0, [2, 2]), applied(0, [1, 3])], [1, undefined, 1]],
    ['a repeated acknowledgement changes nothing', [applied(0), applied(2), applied(2)], [1, 1, undefined]],
    [
      'a range that is repeated, and one that came after it',
      [applied(0, [2, 2]), applied(0, [2, 2], [3, 3])],
      [undefined, undefined, 1],
    ],
    ['a range that comes while the vector stays', [applied(1), applied(1, [3, 3])], [undefined, undefined, 1]],
    [
      'a member that lost some and has them again: the first time counts',
      [applied(0), applied(3), applied(1), applied(3)],
      [1, 1, 1],
    ],
  ])('%s', (_, acks, expected) => {
    const times = new AckTimes(100);
    acks.forEach((ack, atMs) => {
      times.note(ack, atMs);
    });
    expect([1, 2, 3].map((seq) => times.at({ origin: ant, seq }))).toEqual(expected);
  });

  test('vectors alone', () => {
    const times = new AckTimes(100);
    times.noteVector({}, 0);
    times.noteVector({ [ant]: 5 }, 10);
    expect([1, 5, 6].map((seq) => times.at({ origin: ant, seq }))).toEqual([10, 10, undefined]);
  });
});
