import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { backoffMs } from './backoff.ts';

describe('[MB8] backoffMs', () => {
  const limits = { minMs: 100, maxMs: 1_000 };
  const cases = [
    { attempt: 0, random01: 0, delayMs: 100 },
    { attempt: 0, random01: 0.5, delayMs: 150 },
    { attempt: 1, random01: 0, delayMs: 200 },
    { attempt: 2, random01: 0.5, delayMs: 600 },
    { attempt: 3, random01: 0, delayMs: 500 },
    { attempt: 3, random01: 0.5, delayMs: 750 },
    { attempt: 5_000, random01: 0.5, delayMs: 750 },
  ];
  test.each(cases)('attempt $attempt with $random01: $delayMs ms', ({ attempt, random01, delayMs }) => {
    expect(backoffMs(attempt, limits, random01)).toBe(delayMs);
  });

  test('stays within any limits', () => {
    const anyRandom = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: 60_000 }),
        fc.nat(600_000),
        anyRandom,
        (attempt, minMs, more, random01) => {
          const maxMs = minMs + more;
          const delayMs = backoffMs(attempt, { minMs, maxMs }, random01);
          expect(delayMs).toBeGreaterThanOrEqual(minMs);
          expect(delayMs).toBeLessThanOrEqual(maxMs);
        },
      ),
    );
  });
});
