import { describe, expect, test } from 'vitest';
import { ReadTogether } from './read-together.ts';

function readAll(together: ReadTogether, paths: readonly string[], fromMs: number): void {
  for (const [index, path] of paths.entries()) together.read(path, fromMs + index);
}

describe('[OD17] files that are read together', () => {
  test('follow each other, the most frequent first', () => {
    const together = new ReadTogether();
    readAll(together, ['a', 'b', 'c'], 0);
    readAll(together, ['a', 'c'], 10_000);
    expect(together.after('a')).toEqual(['c', 'b']);
    expect(together.after('b')).toEqual(['c']);
    expect(together.after('c')).toEqual([]);
  });

  test('do not belong together after two seconds', () => {
    const together = new ReadTogether();
    together.read('a', 0);
    together.read('b', 2_001);
    expect(together.after('a')).toEqual([]);
  });

  test('a file does not follow itself', () => {
    const together = new ReadTogether();
    readAll(together, ['a', 'a', 'b'], 0);
    expect(together.after('a')).toEqual(['b']);
  });

  test('the rarest of many is forgotten', () => {
    const together = new ReadTogether();
    for (let round = 0; round < 16; round++) {
      readAll(together, ['a', `often-${round}`], 20_000 * round);
      readAll(together, ['a', `often-${round}`], 20_000 * round + 10_000);
    }
    readAll(together, ['a', 'once'], 1_000_000);
    readAll(together, ['a', 'new'], 2_000_000);
    expect(together.after('a')).toHaveLength(16);
    expect(together.after('a')).toContain('new');
    expect(together.after('a')).not.toContain('once');
  });
});
