import { describe, expect, test } from 'vitest';
import { onePerShape, splitsOf } from './splits.ts';

describe('the splits of members into groups', () => {
  test.each([
    [2, 1],
    [3, 4],
    [4, 14],
    [5, 51],
  ])('%i members have %i different splits, each with every member once', (members, count) => {
    const items = Array.from({ length: members }, (_, index) => index);
    const splits = splitsOf(items);
    expect(splits).toHaveLength(count);
    const shown = splits.map((groups) =>
      groups
        .map((group) => [...group].sort().join(''))
        .sort()
        .join(),
    );
    expect(new Set(shown).size).toBe(count);
    for (const groups of splits) {
      expect(groups.length).toBeGreaterThan(1);
      expect(groups.flat().sort()).toEqual(items);
    }
  });

  test('five members have splits of six shapes', () => {
    const sizes = onePerShape(splitsOf(['a', 'b', 'c', 'd', 'e'])).map((groups) =>
      groups.map(({ length }) => length).sort(),
    );
    expect(sizes.map((shape) => shape.join()).sort()).toEqual(['1,1,1,1,1', '1,1,1,2', '1,1,3', '1,2,2', '1,4', '2,3']);
  });
});
