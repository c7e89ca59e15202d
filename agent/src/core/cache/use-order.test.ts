import { describe, expect, test } from 'vitest';
import { UseOrder } from './use-order.ts';

describe('[OD18] the order of use', () => {
  test('has each file once, the last used first, after those that were stored', () => {
    const order = new UseOrder([
      { path: 'a', number: 3 },
      { path: 'b', number: 7 },
    ]);
    expect(order.newestFirst()).toEqual(['b', 'a']);
    order.used('c');
    order.used('a');
    expect(order.newestFirst()).toEqual(['a', 'c', 'b']);
    expect(order.takeChanges()).toEqual({
      used: [
        { path: 'c', number: 8 },
        { path: 'a', number: 9 },
      ],
      forgotten: [],
    });
    expect(order.takeChanges()).toEqual({ used: [], forgotten: [] });
  });

  test('forgets the oldest of more than 10,000', () => {
    const order = new UseOrder([{ path: 'old', number: 1 }]);
    for (let index = 0; index < 10_000; index++) order.used(`file-${index}`);
    const { used, forgotten } = order.takeChanges();
    expect([used.length, forgotten, order.newestFirst().length]).toEqual([10_000, ['old'], 10_000]);
    order.used('file-10000');
    order.used('old');
    expect(order.takeChanges()).toMatchObject({
      used: [{ path: 'file-10000' }, { path: 'old' }],
      forgotten: ['file-0', 'file-1'],
    });
  });
});
