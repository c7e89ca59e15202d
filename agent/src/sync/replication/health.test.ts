import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import type { FolderHealth } from '../ports/folder.ts';
import { Health } from './health.ts';

/** A member whose folder answers what the test says, when the test says so. */
function examined() {
  const { context } = new LoneMember();
  let answer: (health: FolderHealth) => void = () => undefined;
  const folder = { ...context.folder, health: () => new Promise<FolderHealth>((resolve) => (answer = resolve)) };
  const health = new Health({ ...context, folder }, undefined);
  let revealed = 0;
  context.facts.revealed.on(() => revealed++);
  const codes = () => context.problems.list().map(({ code }) => code);
  return {
    problems: context.problems,
    codes,
    revealed: () => revealed,
    measure: async (result: FolderHealth, meanwhile = () => {}) => {
      const measured = health.measure();
      meanwhile();
      answer(result);
      await measured;
      return codes();
    },
  };
}

const fine: FolderHealth = { ok: true, room: { freeBytes: 1e12, totalBytes: 2e12 } };
const gone: FolderHealth = { ok: false, detail: 'The folder is gone.' };
const unusable: FolderHealth = { ...fine, state: 'There is no history.' };

test('[WT6] [ST2] a problem of the folder as a whole lasts as long as it is seen', async () => {
  const { measure, revealed } = examined();
  expect(await measure(gone)).toEqual(['folder-missing']);
  expect(await measure(unusable)).toEqual(['state-unusable']);
  expect(revealed()).toBe(1);
  expect(await measure(fine)).toEqual([]);
  expect(revealed()).toBe(2);
  await measure(fine);
  expect(revealed()).toBe(2);
});

test('[ST2] a problem that appears while the folder is examined is newer than the result', async () => {
  const { measure, problems, codes } = examined();
  const meanwhile = (): void => problems.set('state-unusable', {}, 'history is a file.');
  expect(await measure(fine, meanwhile)).toEqual(['state-unusable']);
  expect(codes()).toEqual(['state-unusable']);
  expect(await measure(fine)).toEqual([]);
});

test('[MT43] a disk without free inodes is full, and says so', async () => {
  const { measure, problems } = examined();
  const room = { freeBytes: 1e12, totalBytes: 2e12 };
  expect(await measure({ ok: true, room: { ...room, inodes: { free: 512, total: 100_000 } } })).toEqual(['disk-full']);
  expect(problems.list()[0]?.detail).toContain(
    'has room for only 512 more files and directories, whatever their size; the last 512 are left free. Remove small files:',
  );
  expect(await measure({ ok: true, room: { ...room, inodes: { free: 513, total: 100_000 } } })).toEqual([]);
  // Of a tiny disk an eighth is enough.
  expect(await measure({ ok: true, room: { ...room, inodes: { free: 51, total: 400 } } })).toEqual([]);
  expect(await measure({ ok: true, room: { ...room, inodes: { free: 50, total: 400 } } })).toEqual(['disk-full']);
});

test('[ST2] nothing is known of the state directories while the folder is missing', async () => {
  const { measure } = examined();
  await measure(unusable);
  expect(await measure(gone)).toEqual(['state-unusable', 'folder-missing']);
});
