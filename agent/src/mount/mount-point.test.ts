import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkedMountPoint, draftDirectory, remakeDrafts } from './mount-point.ts';

let root: string;
let folder: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'lockstep-point-')));
  folder = join(root, 'outer/folder');
  mkdirSync(join(folder, '.lockstep'), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test.each([
  ['missing', /does not exist\. Make it: mkdir -p /],
  ['file', /is not a directory\. Name an empty directory\./],
  ['full', /is not empty: it has entry\. Choose an empty directory\./],
  ['outer/folder', /lies inside the folder/],
  ['outer/folder/sub', /lies inside the folder .* Choose a directory outside it\./],
  ['outer', /contains the folder/],
])('[FM1] a mount point that cannot be used: %s', async (name, sentence) => {
  writeFileSync(join(root, 'file'), '');
  for (const directory of ['full/entry', 'outer/folder/sub']) mkdirSync(join(root, directory), { recursive: true });
  await expect(checkedMountPoint(join(root, name), folder)).rejects.toThrow(sentence);
});

test('[FM1] an empty directory outside the folder is used', async () => {
  mkdirSync(join(root, 'empty'));
  expect(await checkedMountPoint(join(root, 'empty'), folder)).toBe(join(root, 'empty'));
});

test('[FM8] drafts of processes that have ended are removed, those of others stay', async () => {
  const drafts = join(folder, '.lockstep/mount');
  // No process has a number above the largest one of Linux.
  for (const name of ['4194305', String(process.ppid), 'left']) {
    mkdirSync(join(drafts, name), { recursive: true });
    writeFileSync(join(drafts, name, '1'), 'draft');
  }
  const own = await draftDirectory(folder);
  expect(readdirSync(drafts).sort()).toEqual([String(process.pid), String(process.ppid)].sort());
  expect(readdirSync(own)).toEqual([]);
});

test('[FM8] the directory of drafts is made again after it was removed, unless the state directory is gone', async () => {
  const own = await draftDirectory(folder);
  for (const removed of ['.lockstep/mount', `.lockstep/mount/${process.pid}`]) {
    rmSync(join(folder, removed), { recursive: true });
    remakeDrafts(own);
    expect(statSync(own).mode & 0o777).toBe(0o700);
  }
  rmSync(join(folder, '.lockstep'), { recursive: true });
  expect(() => remakeDrafts(own)).toThrow('ENOENT');
});
