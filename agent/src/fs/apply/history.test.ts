import { readdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContentId } from '@lockstep/shared';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { HistoryLimits } from '../../sync/ports/folder.ts';
import { type DiskSubject, openDiskSubject } from '../disk-subject.contract.ts';
import { bytesOf, doOne, writeRequest } from '../folder-subject.contract.ts';
import { contentFileName } from '../read/content-id.ts';

const roomy: HistoryLimits = { bytesMax: 2 ** 40, filesMax: 10_000, ageMsMax: 86_400_000 };
const nothingNeeded = (): boolean => false;

let subject: DiskSubject;

beforeEach(async () => {
  subject = await openDiskSubject();
});

afterEach(async () => {
  vi.useRealTimers();
  await subject.close();
});

const history = (...names: string[]): string => join(subject.root, '.lockstep/history', ...names);

/** Replaces one file `count` times, and returns the replaced contents, oldest first. */
async function replaceOften(count: number): Promise<readonly ContentId[]> {
  const contents: ContentId[] = [];
  let expected = await doOne(subject, writeRequest(subject, 'file', 'version 0'));
  for (let version = 1; version <= count; version++) {
    const keep = subject.identify(bytesOf(`version ${version - 1}`)).content;
    contents.push(keep);
    expected = await doOne(subject, writeRequest(subject, 'file', `version ${version}`, { expected, keep }));
  }
  return contents;
}

test('[ST3] small versions count as the blocks that they occupy, and the oldest are removed first', async () => {
  const contents = await replaceOften(30);
  const { blocks } = statSync(join(subject.root, 'file'));
  await subject.folder.trimHistory({ ...roomy, bytesMax: 10 * blocks * 512 }, nothingNeeded);
  expect(await subject.folder.inHistory(contents)).toEqual(new Set(contents.slice(-10)));
});

test('[ST3] versions added after history was listed are counted, and needed ones stay', async () => {
  await subject.folder.trimHistory(roomy, nothingNeeded);
  const contents = await replaceOften(8);
  await subject.folder.trimHistory({ ...roomy, filesMax: 3 }, (content) => content === contents[0]);
  expect(await subject.folder.inHistory(contents)).toEqual(new Set([contents[0], ...contents.slice(-2)]));
});

test('[ST4] an expired version is removed unless it is needed', async () => {
  const contents = await replaceOften(4);
  await subject.folder.trimHistory(roomy, nothingNeeded);
  expect(await subject.folder.inHistory(contents)).toEqual(new Set(contents));
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + roomy.ageMsMax + 1_000 });
  await subject.folder.trimHistory(roomy, (content) => content === contents[1]);
  expect(await subject.folder.inHistory(contents)).toEqual(new Set([contents[1]]));
});

test('[ST3] history is divided into directories, and versions from an undivided one are found', async () => {
  const contents = await replaceOften(20);
  for (const content of contents) {
    const name = contentFileName(content);
    renameSync(history(name.slice(3, 5), name), history(name));
  }
  writeFileSync(history('README'), 'of the user');
  await using again = await subject.reopen();
  expect(await again.inHistory(contents)).toEqual(new Set(contents));
  const names = readdirSync(history());
  expect(names.filter((name) => name !== 'README').every((name) => /^[0-9a-f]{2}$/.test(name))).toBe(true);
  expect(names).toContain('README');
  await again.trimHistory({ ...roomy, filesMax: 5 }, nothingNeeded);
  expect((await again.inHistory(contents)).size).toBe(5);
});
