import { execFileSync } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** A person reads a list of this length at once. */
const filesMax = 24;
const roomFilesMax = 10;

test('a folder holds at most 24 source files, a room of sync/ at most 10', () => {
  const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const sources = files
    .split('\n')
    .filter((path) => /\.(tsx?|mjs)$/.test(path) && !/\.(test|contract)\.tsx?$|\/_/.test(path));
  const counts = new Map<string, number>();
  for (const path of sources) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  const isRoom = (folder: string) => folder.startsWith('agent/src/sync/');
  expect(sources.length).toBeGreaterThan(500);
  expect([...counts].filter(([folder, count]) => count > (isRoom(folder) ? roomFilesMax : filesMax))).toEqual([]);
});
