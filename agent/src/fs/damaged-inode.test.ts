import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LoopDisk, loopDiskLacks } from '../../../testkit/machine/loop-disk.ts';
import { openDiskSubject } from './disk-subject.contract.ts';
import { observeOne, scanAll } from './folder-subject.contract.ts';

test.skipIf(loopDiskLacks)('[WT22] a damaged inode is a problem of its path, and hides no other entry', async () => {
  const place = mkdtempSync(join(tmpdir(), 'lockstep-damaged-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const disk = await LoopDisk.make(place);
  onTestFinished(() => disk.remove());
  const made = await openDiskSubject({}, disk.directory);
  const name = made.root.slice(disk.directory.length + 1);
  mkdirSync(join(made.root, 'sub'));
  for (const path of ['one', 'two', 'sub/one', 'sub/two']) writeFileSync(join(made.root, path), path);
  onTestFinished(() => made.close().catch(() => undefined));
  await disk.damageInodes(`${name}/two`, `${name}/sub/two`);
  const folder = await made.reopen();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const subject = { ...made, folder };
  const scanned = await scanAll(subject, '');
  expect(
    scanned.map(({ path, entries, unreadable, problem }) => [
      path,
      entries.map((entry) => entry.name).toSorted(),
      unreadable,
      problem,
    ]),
  ).toEqual([
    ['', ['one', 'sub'], ['two'], undefined],
    ['sub', ['one'], ['two'], undefined],
  ]);
  expect(await observeOne(subject, 'one')).toMatchObject({ state: 'file' });
  expect(await observeOne(subject, 'sub/two')).toMatchObject({
    state: 'problem',
    code: 'path-io',
    detail: expect.stringMatching(/^The file system is damaged at sub\/two \(EBADMSG\)/),
  });
});
