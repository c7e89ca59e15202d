import type { Applied, OriginId, SeqRange, VersionVector } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { blockingOrigins, countBehind, holds, holdsAll } from './durability.ts';

const ant = 'ant' as OriginId;
const bee = 'bee' as OriginId;

describe('[AK2] the operations that a member holds, from its applied vector and ranges', () => {
  const applied: Applied = {
    vector: { [ant]: 5 },
    ranges: {
      [ant]: [
        [7, 8],
        [10, 10],
      ],
      [bee]: [[2, 3]],
    },
  };

  const dots = [
    { origin: ant, seq: 1, held: true },
    { origin: ant, seq: 5, held: true },
    { origin: ant, seq: 6, held: false },
    { origin: ant, seq: 7, held: true },
    { origin: ant, seq: 8, held: true },
    { origin: ant, seq: 9, held: false },
    { origin: ant, seq: 10, held: true },
    { origin: ant, seq: 11, held: false },
    { origin: bee, seq: 1, held: false },
    { origin: bee, seq: 2, held: true },
    { origin: 'cat' as OriginId, seq: 1, held: false },
  ];
  test.each(dots)('$origin:$seq held: $held', ({ origin, seq, held }) => {
    expect(holds(applied, { origin, seq })).toBe(held);
  });

  const wants: readonly { name: string; wanted: VersionVector; behind: number; blocking: readonly object[] }[] = [
    { name: 'nothing', wanted: {}, behind: 0, blocking: [] },
    { name: 'the contiguous part', wanted: { [ant]: 5 }, behind: 0, blocking: [] },
    { name: 'one beyond it', wanted: { [ant]: 6 }, behind: 1, blocking: [{ origin: ant, seq: 6 }] },
    { name: 'into a range', wanted: { [ant]: 7 }, behind: 1, blocking: [{ origin: ant, seq: 6 }] },
    { name: 'beyond all ranges', wanted: { [ant]: 12 }, behind: 4, blocking: [{ origin: ant, seq: 6 }] },
    { name: 'a range without a contiguous part', wanted: { [bee]: 3 }, behind: 1, blocking: [{ origin: bee, seq: 1 }] },
    {
      name: 'two origins',
      wanted: { [ant]: 6, [bee]: 1 },
      behind: 2,
      blocking: [
        { origin: ant, seq: 6 },
        { origin: bee, seq: 1 },
      ],
    },
    {
      name: 'an origin it has not heard of',
      wanted: { cat: 3 } as VersionVector,
      behind: 3,
      blocking: [{ origin: 'cat', seq: 1 }],
    },
  ];
  test.each(wants)('$name', ({ wanted, behind, blocking }) => {
    expect(countBehind(wanted, applied)).toBe(behind);
    expect(blockingOrigins(applied, wanted)).toEqual(blocking);
    expect(holdsAll(applied, wanted)).toBe(blocking.length === 0);
  });

  test('ranges that touch or overlap the contiguous part count once', () => {
    const odd: Applied = {
      vector: { [ant]: 5 },
      ranges: {
        [ant]: [
          [3, 6],
          [6, 7],
          [8, 9],
        ],
      },
    };
    expect(countBehind({ [ant]: 10 }, odd)).toBe(1);
    expect(blockingOrigins(odd, { [ant]: 10 })).toEqual([{ origin: ant, seq: 10 }]);
    expect(holdsAll(odd, { [ant]: 9 })).toBe(true);
  });

  const anyRanges: fc.Arbitrary<readonly SeqRange[]> = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.nat(5)))
    .map((pairs) => pairs.map(([from, more]): SeqRange => [from, from + more]).sort((a, b) => a[0] - b[0]));

  test('all four answers agree with asking for each operation', () => {
    fc.assert(
      fc.property(fc.nat(20), anyRanges, fc.nat(35), (contiguous, ranges, upTo) => {
        const some: Applied = { vector: { [ant]: contiguous }, ranges: { [ant]: ranges } };
        const missing = Array.from({ length: upTo }, (_, index) => index + 1).filter(
          (seq) => !holds(some, { origin: ant, seq }),
        );
        expect(countBehind({ [ant]: upTo }, some)).toBe(missing.length);
        expect(holdsAll(some, { [ant]: upTo })).toBe(missing.length === 0);
        expect(blockingOrigins(some, { [ant]: upTo }).map((dot) => dot.seq)).toEqual(missing.slice(0, 1));
      }),
    );
  });
});
