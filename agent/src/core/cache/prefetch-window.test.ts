import { describe, expect, test } from 'vitest';
import { type PrefetchCandidate, PrefetchWindow } from './prefetch-window.ts';

const mebibyte = 1_048_576;
const large = 1_000 * mebibyte;

function files(directory: string, count: number, size = 1_000): readonly PrefetchCandidate[] {
  return Array.from({ length: count }, (_, index) => ({ path: `${directory}/${index}`, size }));
}

/** Prefetches what is chosen of `candidates`, and returns the paths. */
function prefetch(window: PrefetchWindow, directory: string, candidates: readonly PrefetchCandidate[]): string[] {
  const chosen = window.choose(directory, candidates, large);
  for (const one of chosen) window.prefetched(one);
  return chosen.map(({ path }) => path);
}

describe('[OD17] what is prefetched', () => {
  test('is a limited number of files, in the given order, each once', () => {
    const window = new PrefetchWindow();
    const twice = [...files('d', 3), ...files('d', 100)];
    expect(prefetch(window, 'd', twice)).toEqual(files('d', 64).map(({ path }) => path));
  });

  test('is neither large nor empty, and takes a small part of the cache', () => {
    const window = new PrefetchWindow();
    const sizes = [mebibyte + 1, 0, mebibyte, 600_000, 400_000];
    const candidates = sizes.map((size, index) => ({ path: `d/${index}`, size }));
    const paths = (cacheBytes: number) => window.choose('d', candidates, cacheBytes).map(({ path }) => path);
    expect(paths(large)).toEqual(['d/2', 'd/3', 'd/4']);
    expect(paths(16 * mebibyte)).toEqual(['d/2']);
    expect(paths(16 * 1_000_000)).toEqual(['d/3', 'd/4']);
    expect(paths(1_000)).toEqual([]);
    expect(window.choose('d', files('d', 64, mebibyte), large)).toHaveLength(16);
  });

  test('moves on with what is read, and stops where nothing is', () => {
    const window = new PrefetchWindow();
    const all = files('d', 200);
    prefetch(window, 'd', all.slice(0, 64));
    expect(prefetch(window, 'd', all.slice(64))).toEqual([]);
    for (const { path } of all.slice(0, 10)) expect(window.read(path)).toBe(true);
    expect(window.read('d/0')).toBe(false);
    expect(prefetch(window, 'd', all.slice(64))).toHaveLength(10);
    // Another directory has its own room.
    expect(prefetch(window, 'e', files('e', 100))).toHaveLength(64);
  });

  test('becomes less when it is not read, and more again when it is', () => {
    const window = new PrefetchWindow();
    const counts = Array.from({ length: 40 }, (_, index) => {
      const directory = `unread-${index}`;
      return prefetch(window, directory, files(directory, 100)).length;
    });
    expect(counts[0]).toBe(64);
    expect(counts.at(-1)).toBeLessThan(32);
    expect(counts.at(-1)).toBeGreaterThanOrEqual(4);
    for (let index = 0; index < 200; index++) {
      const directory = `read-${index}`;
      for (const path of prefetch(window, directory, files(directory, 100))) window.read(path);
    }
    expect(prefetch(window, 'd', files('d', 100))).toHaveLength(64);
  });

  test('a file that was dropped makes room, and its later read is no hit', () => {
    const window = new PrefetchWindow();
    prefetch(window, 'd', files('d', 64));
    window.forget('d/1');
    expect(window.read('d/1')).toBe(false);
    expect(window.choose('d', files('d', 2), large)).toHaveLength(1);
  });
});
