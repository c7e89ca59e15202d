import { describe, expect, test } from 'vitest';
import { cleanedBy, unconfirmedAfter, unconfirmedAt } from './confirmation.ts';
import type { Fingerprint } from './entry.ts';

const nowMs = 1_700_000_000_000;
const changed = (agoMs: number, mode = 0o100644): Fingerprint => {
  const atMs = nowMs - agoMs;
  return { ino: 1, size: 10, mtimeMs: atMs, ctimeMs: atMs, mode };
};

describe('[LC40] a file that was read', () => {
  test.each([
    ['changed this moment', changed(0), 'dirty'],
    ['changed within the time that a slow disk takes to write it', changed(299_999), 'dirty'],
    ['changed before that', changed(300_000), undefined],
    ['changed by a clock that was ahead', changed(-86_400_000), 'dirty'],
    ['a directory', changed(0, 0o040755), undefined],
    ['a link', changed(0, 0o120777), undefined],
  ] as const)('%s', (_, fingerprint, expected) => {
    expect(unconfirmedAt(fingerprint, nowMs)).toBe(expected);
  });

  test('an old modification time that was set proves nothing', () => {
    expect(unconfirmedAt({ ...changed(0), mtimeMs: 0 }, nowMs)).toBe('dirty');
  });

  test('after a second read the mark of its row holds, unless it was changed', () => {
    const fingerprint = changed(400_000);
    for (const unconfirmed of ['dirty', 'clean', undefined] as const) {
      expect(unconfirmedAfter({ fingerprint, unconfirmed }, fingerprint, nowMs)).toBe(unconfirmed);
    }
    expect(unconfirmedAfter({ fingerprint }, changed(1), nowMs)).toBe('dirty');
    expect(unconfirmedAfter({}, changed(1), nowMs)).toBe('dirty');
  });
});

test('[LC40] a sync makes no file clean that was changed while it ran, or a step of the file times before', () => {
  const { upToMs, aboveMs } = cleanedBy({ beganMs: nowMs, endedMs: nowMs + 100 });
  const isClean = (ctimeMs: number): boolean => ctimeMs <= upToMs || ctimeMs > aboveMs;
  expect([nowMs - 50, nowMs - 49, nowMs + 100, nowMs + 101].map(isClean)).toEqual([true, false, false, true]);
});
