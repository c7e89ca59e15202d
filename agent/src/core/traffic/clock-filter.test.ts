import { clockSkewMsMax } from '@lockstep/shared';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ClockFilter } from './clock-filter.ts';

/** A filter that noted exchanges with a clock that is ahead by `aheadMs`: the time there and back of each, in milliseconds. */
function filterOf(
  aheadMs: number,
  ways: readonly (readonly [there: number, back: number])[],
  filter = new ClockFilter(),
) {
  for (const [index, [there, back]] of ways.entries()) {
    const askedMs = 1_700_000_000_000 + 1_000 * index;
    filter.note({ wallMs: askedMs + there + back, saidMs: askedMs + there + aheadMs, roundTripMs: there + back });
  }
  return filter;
}

describe('[MB22] another clock', () => {
  test('is not judged before the first exchange', () => {
    expect(new ClockFilter().skew()).toBeUndefined();
  });

  test('that is right is never called wrong, however long questions and answers take', () => {
    const way = fc.integer({ min: 0, max: 120_000 });
    fc.assert(
      fc.property(fc.array(fc.tuple(way, way), { minLength: 1 }), (ways) => {
        expect(filterOf(0, ways).skew()).toMatchObject({ isWrong: false });
      }),
    );
  });

  test('is compared by the exchange with the shortest round trip', () => {
    const filter = filterOf(5_000, [
      [0, 60_000],
      [8, 8],
      [40_000, 0],
    ]);
    expect(filter.skew()).toEqual({ aheadMs: 5_000, isWrong: false });
  });

  test.each([1, -1])('that is wrong is called so by one exchange, and is right again by one (%i)', (sign) => {
    const filter = filterOf(sign * (clockSkewMsMax + 1_000), [[10, 20]]);
    expect(filter.skew()).toMatchObject({ isWrong: true });
    filterOf(0, [[500, 100]], filter);
    expect(filter.skew()).toMatchObject({ isWrong: false });
  });

  test('that drifts is judged by the last exchanges only', () => {
    const filter = new ClockFilter();
    for (let round = 0; round < 20_000; round++) filterOf(round, [[round === 0 ? 0 : 5, 5]], filter);
    expect(filter.skew()).toMatchObject({ isWrong: true });
  });
});
