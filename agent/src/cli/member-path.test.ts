import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findMemberPath } from './member-path.ts';

let root = '';
let ant = '';

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lockstep-path-')));
  ant = join(root, 'ant');
  await mkdir(join(ant, '.lockstep'), { recursive: true });
  await mkdir(join(ant, 'sub'));
  await symlink('sub', join(ant, 'link'));
  await symlink(ant, join(root, 'way'));
  await symlink(join(ant, 'sub'), join(root, 'to-sub'));
});

afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

const cases: readonly (readonly [
  cwd: string,
  path: string | undefined,
  directory: string | undefined,
  found: string,
])[] = [
  ['ant', 'x', undefined, 'x'],
  ['ant/sub', 'x', undefined, 'sub/x'],
  ['ant/sub', '../gone/deep', undefined, 'gone/deep'],
  ['ant/sub', undefined, undefined, ''],
  ['.', 'ant', undefined, ''],
  ['.', 'ant/sub/x', undefined, 'sub/x'],
  ['.', 'way', undefined, ''],
  ['.', 'way/', undefined, ''],
  ['.', 'way/sub', undefined, 'sub'],
  ['.', 'to-sub', undefined, 'sub'],
  ['ant', 'link', undefined, 'link'],
  ['ant', 'link/x', undefined, 'sub/x'],
  ['.', 'sub/x', 'ant', 'sub/x'],
  ['.', undefined, 'ant', ''],
  ['ant/sub', 'x', '..', 'sub/x'],
];

test.each(cases)('[CL3] in %s, %s of folder %s', async (cwd, path, directory, found) => {
  expect(await findMemberPath(join(root, cwd), path, directory)).toEqual({ directory: ant, path: found });
});

test('[CL3] a path outside, or inside .lockstep, is wrong use', async () => {
  await expect(findMemberPath(root, 'other', undefined)).rejects.toMatchObject({ code: 'not-a-member' });
  await expect(findMemberPath(ant, '../other', '.')).rejects.toThrow('lies outside');
  await expect(findMemberPath(ant, '.lockstep/journal.db', undefined)).rejects.toThrow('inside .lockstep');
});
