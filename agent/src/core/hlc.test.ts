import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mergeStamp, nextStamp, stampMs } from './hlc.ts';

const now = Date.UTC(2026, 10, 21, 6, 56, 2);
const day = 86_400_000;

describe('[JN5] nextStamp', () => {
  const cases = [
    { name: 'the wall clock leads', wallMs: now, last: 0, parents: [], stamp: now * 1024 },
    { name: 'fractions of a millisecond are cut', wallMs: now + 0.9, last: 0, parents: [], stamp: now * 1024 },
    { name: 'two in one millisecond', wallMs: now, last: now * 1024, parents: [], stamp: now * 1024 + 1 },
    { name: 'the clock went back', wallMs: now - day, last: now * 1024 + 5, parents: [], stamp: now * 1024 + 6 },
    {
      name: 'a parent from a member whose clock is ahead',
      wallMs: now,
      last: now * 1024,
      parents: [(now + day) * 1024, 12],
      stamp: (now + day) * 1024 + 1,
    },
    {
      name: 'more than 1024 in one millisecond run into the next',
      wallMs: now,
      last: now * 1024 + 1023,
      parents: [],
      stamp: (now + 1) * 1024,
    },
    { name: 'a clock before 1970', wallMs: -5, last: 0, parents: [], stamp: 1 },
    {
      name: 'the end of the range',
      wallMs: now,
      last: 0,
      parents: [Number.MAX_SAFE_INTEGER],
      stamp: Number.MAX_SAFE_INTEGER,
    },
  ];
  test.each(cases)('$name', ({ wallMs, last, parents, stamp }) => {
    expect(nextStamp({ wallMs, last, parents })).toBe(stamp);
  });

  test('it is a safe integer, later than all that it follows', () => {
    const anyStamp = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER - 1 });
    fc.assert(
      fc.property(fc.double({ min: -1e15, max: 1e15 }), anyStamp, fc.array(anyStamp), (wallMs, last, parents) => {
        const stamp = nextStamp({ wallMs, last, parents });
        expect(Number.isSafeInteger(stamp)).toBe(true);
        expect(stamp).toBeGreaterThan(Math.max(last, ...parents));
      }),
    );
  });
});

describe('[JN6] mergeStamp', () => {
  const driftMsMax = 10_000;
  const cases = [
    { name: 'an older stamp changes nothing', last: now * 1024, remote: (now - 1) * 1024, merged: now * 1024 },
    { name: 'a later stamp advances', last: now * 1024, remote: (now + 5) * 1024 + 3, merged: (now + 5) * 1024 + 3 },
    {
      name: 'a stamp a day ahead advances to the bound',
      last: now * 1024,
      remote: (now + day) * 1024,
      merged: (now + driftMsMax) * 1024,
    },
    {
      name: 'a clock already beyond the bound stays',
      last: (now + day) * 1024,
      remote: (now + 2 * day) * 1024,
      merged: (now + day) * 1024,
    },
  ];
  test.each(cases)('$name', ({ last, remote, merged }) => {
    expect(mergeStamp({ last, remote, wallMs: now, driftMsMax })).toBe(merged);
  });
});

test('[JN5] stampMs gives back the milliseconds', () => {
  expect(stampMs(nextStamp({ wallMs: now, last: 0, parents: [] }))).toBe(now);
  expect(stampMs(now * 1024 + 1023)).toBe(now);
});
