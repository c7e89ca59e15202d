import { expect, test } from 'vitest';
import { SyncAttempts } from './sync-attempts.ts';

test('[PC1] a failed sync of the file system is tried again after a minute', () => {
  const attempts = new SyncAttempts(true);
  expect(attempts.mayBegin(0)).toBe(true);
  attempts.ended(false, 1_000);
  expect([attempts.mayBegin(1_000), attempts.mayBegin(60_999), attempts.mayBegin(61_000)]).toEqual([
    false,
    false,
    true,
  ]);
  attempts.ended(true, 62_000);
  expect(attempts.mayBegin(62_000)).toBe(true);
});

test('[PC1] a system without the call is never asked for it', () => {
  const attempts = new SyncAttempts(false);
  attempts.ended(false, 0);
  expect(attempts.mayBegin(1e9)).toBe(false);
});
