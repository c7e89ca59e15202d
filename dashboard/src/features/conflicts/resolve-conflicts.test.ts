import { expect, test } from 'vitest';
import { batchesOf } from './resolve-conflicts.ts';

test('[DB-C4] many choices are sent in order, in several requests below the size limit', () => {
  const choices = Array.from({ length: 50 }, (_, index) => {
    return { copy: `${'ö'.repeat(100)}${index}`, keep: 'both' as const, copySeen: 'a:1', originalSeen: null };
  });
  const batches = batchesOf(choices, 2_000);
  expect(batches.length).toBeGreaterThan(5);
  expect(batches.flat()).toEqual(choices);
  for (const batch of batches) expect(new TextEncoder().encode(JSON.stringify(batch)).length).toBeLessThan(2_100);
  expect(batchesOf(choices, 1).length).toBe(50);
  expect(batchesOf([])).toEqual([]);
});
