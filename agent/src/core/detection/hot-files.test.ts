import { hotFileMs, hotFilesMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { HotFiles } from './hot-files.ts';

const paths = (count: number, name = 'f'): string[] => Array.from({ length: count }, (_, index) => `${name}${index}`);

test('[WT40] each hot file has its turn, however few a turn holds', () => {
  const hot = new HotFiles();
  for (const path of paths(7)) hot.changed(path, 0);
  const turns = [hot.next(0, 3), hot.next(0, 3), hot.next(0, 3)];
  expect(turns.map(({ length }) => length)).toEqual([3, 3, 3]);
  expect(new Set(turns.flat())).toEqual(new Set(paths(7)));
});

test('[WT40] a file is in one turn once, whatever makes it hot', () => {
  const hot = new HotFiles();
  hot.changed('f', 0);
  hot.mapped(['f', 'g']);
  hot.polled(['f'], ['f']);
  expect([...hot.next(0, 10)].sort()).toEqual(['f', 'g']);
});

test('[WT40] a file cools down when it was not changed for long, is no longer mapped, and has one name', () => {
  const hot = new HotFiles();
  hot.changed('changed', 0);
  hot.changed('later', 1_000);
  hot.mapped(['mapped']);
  hot.polled(['linked'], ['linked']);
  expect(hot.next(hotFileMs, 10)).toEqual(['mapped', 'linked', 'later']);
  hot.mapped([]);
  hot.polled(['linked', 'other'], []);
  expect(hot.next(hotFileMs + 1_000, 10)).toEqual([]);
});

test('[WT40] if there are too many, the newest stay hot', () => {
  const hot = new HotFiles();
  for (const path of paths(hotFilesMax + 2)) hot.changed(path, 0);
  hot.changed('f2', 1);
  hot.changed('last', 1);
  const all = hot.next(1, 2 * hotFilesMax);
  expect(all).toHaveLength(hotFilesMax);
  expect(all).toContain('f2');
  expect(all).not.toContain('f3');
});
