import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { directoriesSearchedMax, memberFolderAbove, memberFolderBelow } from './folder-nesting.ts';

test('[CL3] a folder whose disk does not answer is not taken for one of no member', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-nesting-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(join(folder, '.lockstep'));
  await mkdir(join(folder, 'below'));
  expect(await memberFolderAbove(join(folder, 'below'))).toBe(folder);
  const failing = (code: string) => () => Promise.reject(Object.assign(new Error(code), { code }));
  await expect(memberFolderAbove(folder, failing('EIO'))).rejects.toMatchObject({
    code: 'folder-not-writable',
    message: expect.stringContaining('cannot be read or written because of its disk (EIO)'),
  });
  // A directory above that this user may not search has nothing to do with it.
  expect(await memberFolderAbove(folder, failing('EACCES'))).toBeUndefined();
});

test('[CL3] a folder with more directories than a call can have arguments is searched', async () => {
  const names = Array.from({ length: 130_000 }, (_, number) => `d${number}`);
  const searched: string[] = [];
  const list = (directory: string) => {
    searched.push(directory);
    return Promise.resolve(directory === '/folder' ? names : []);
  };
  expect(await memberFolderBelow('/folder', list)).toBeUndefined();
  expect(searched).toHaveLength(directoriesSearchedMax);
});
