import { describe, expect, it } from 'vitest';
import { GreedyDualSize } from './greedy-dual-size.ts';

/** The order in which files are dropped until none is left. */
function dropOrder(cache: GreedyDualSize, paths: readonly string[]): readonly string[] {
  const left = [...paths];
  const order: string[] = [];
  while (left.length > 0) {
    left.sort((a, b) => cache.credit(a) - cache.credit(b));
    const [first] = left.splice(0, 1);
    if (first === undefined) break;
    cache.dropped(first);
    order.push(first);
  }
  return order;
}

describe('greedy dual size [OD6]', () => {
  it('drops large files before small ones that cost the same', () => {
    const cache = new GreedyDualSize();
    cache.used('small', { costMs: 10, size: 1_000 });
    cache.used('large', { costMs: 10, size: 100_000 });
    expect(dropOrder(cache, ['small', 'large'])).toEqual(['large', 'small']);
  });

  it('keeps what is slow to fetch again', () => {
    const cache = new GreedyDualSize();
    cache.used('near', { costMs: 5, size: 1_000 });
    cache.used('far', { costMs: 500, size: 1_000 });
    expect(dropOrder(cache, ['far', 'near'])).toEqual(['near', 'far']);
  });

  it('drops a small file in the end that is never used again', () => {
    const cache = new GreedyDualSize();
    cache.used('once', { costMs: 20, size: 10 });
    for (let round = 0; round < 100; round++) {
      cache.used('other', { costMs: 5, size: 10 });
      if (cache.credit('once') < cache.credit('other')) return;
      cache.dropped('other');
    }
    throw new Error('a file that is not used ages while others are dropped');
  });

  it('drops a file of which no use is known first, and forgets one that is gone', () => {
    const cache = new GreedyDualSize();
    cache.used('used', { costMs: 1, size: 1_000_000 });
    expect(dropOrder(cache, ['used', 'unknown'])).toEqual(['unknown', 'used']);
    cache.used('gone', { costMs: 1, size: 1 });
    cache.keepOnly((path) => path !== 'gone');
    expect(cache.credit('gone')).toBe(0);
  });

  it('[OD17] drops a prefetched file before all others, until it is used', () => {
    const cache = new GreedyDualSize();
    cache.used('used', { costMs: 1, size: 1_000_000 });
    cache.prefetched('prefetched');
    expect(dropOrder(cache, ['used', 'unknown', 'prefetched'])).toEqual(['prefetched', 'unknown', 'used']);
    cache.prefetched('prefetched');
    cache.used('prefetched', { costMs: 10, size: 1 });
    expect(cache.credit('prefetched')).toBeGreaterThan(1);
  });

  it('[OD18] goes on with what an earlier run knew', () => {
    const before = new GreedyDualSize();
    before.used('old', { costMs: 10, size: 10 });
    before.used('dropped', { costMs: 20, size: 1 });
    before.dropped('dropped');
    before.used('new', { costMs: 10, size: 10 });
    const after = new GreedyDualSize();
    for (const path of ['old', 'new']) {
      after.restore(path, { credit: before.credit(path), inflation: path === 'new' ? before.inflation : 0 });
    }
    after.used('newest', { costMs: 10, size: 10 });
    expect(after.credit('newest')).toBe(before.credit('new'));
    expect(dropOrder(after, ['new', 'old', 'unknown'])).toEqual(['unknown', 'old', 'new']);
  });
});
