import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { LoopDisk, loopDiskLacks } from '../../../../testkit/machine/loop-disk.ts';
import { type DiskSubject, openDiskSubject } from '../disk-subject.contract.ts';
import { syncTogetherMin } from '../durable.ts';
import { tryOne, writeRequest } from '../folder-subject.contract.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import { openPlaces } from '../open-folder.ts';
import { temporaryNames } from '../places.ts';
import { blockHash } from '../read/content-id.ts';
import type { SystemCalls } from '../system-calls.ts';
import { syncChanges } from './sync-changes.ts';

const mebibyte = 1_048_576;

async function openSubject(): Promise<DiskSubject> {
  const subject = await openDiskSubject();
  onTestFinished(() => subject.close());
  return subject;
}

test('[PC1] any entry that users made can be made durable, and so can a removal', async () => {
  const { folder, root } = await openSubject();
  mkdirSync(join(root, 'd/e'), { recursive: true });
  writeFileSync(join(root, 'd/file'), 'text');
  symlinkSync('nowhere', join(root, 'd/link'));
  execFileSync('mkfifo', [join(root, 'd/pipe')]);
  const paths = [
    'd',
    'd/e',
    'd/file',
    'd/link',
    'd/pipe',
    'd/removed',
    'gone/with/its/directory',
    'd/file/below a file',
  ];
  expect(await folder.sync(paths)).toMatchObject({ result: 'done', hidden: [] });
  const many = Array.from({ length: syncTogetherMin }, (_, index) => `d/many-${index}`);
  for (const path of many) writeFileSync(join(root, path), path);
  expect(await folder.sync(many)).toMatchObject({ result: 'done', hidden: [] });
});

test('[PC1] says which inodes it synced, and which names have none', async () => {
  const { folder, root } = await openSubject();
  writeFileSync(join(root, 'file'), 'text');
  symlinkSync('file', join(root, 'link'));
  const { ino } = statSync(join(root, 'file'));
  const result = await folder.sync(['file', 'link', 'gone']);
  const single = [
    { path: 'file', ino },
    { path: 'gone', ino: undefined },
  ];
  expect(result).toEqual({ result: 'done', hidden: [], single });
});

test.each(['EAGAIN', 'EACCES', 'EIO', 'EINTR'])(
  '[PC4] an entry that cannot be opened (%s) is synced with its file system, and counts as no lost bytes',
  async (code) => {
    const { root } = await openSubject();
    writeFileSync(join(root, 'file'), 'text');
    const system = nodeSystemCalls();
    const { places } = openPlaces({
      root,
      realRoot: () => root,
      state: join(root, '.lockstep'),
      system,
      hash: blockHash,
      memberName: 'ant',
      temporaryName: temporaryNames('t'),
    });
    const top = system.openDirectory(root);
    onTestFinished(() => top.close());
    const synced: string[] = [];
    const failing: SystemCalls = {
      ...system,
      // A program with a lease on the file is asked to release it, and this caller is told to come again.
      open: () => {
        throw Object.assign(new Error(code), { code });
      },
      syncFileSystem: (path) => synced.push(path) > 0,
    };
    const result = syncChanges({ ...places, system: failing, top }, { paths: ['file'], left: ['file'] });
    expect(result).toMatchObject({ result: 'done', single: [] });
    expect(synced).toHaveLength(1);
  },
);

test('[PC4] a folder that was exchanged since it was opened is not synced', async () => {
  const { folder, root } = await openSubject();
  writeFileSync(join(root, 'file'), 'text');
  renameSync(join(root, '.lockstep'), join(root, '.aside'));
  expect(await folder.sync(['file'])).toMatchObject({ result: 'not-done', detail: expect.stringContaining('folder') });
  renameSync(join(root, '.aside'), join(root, '.lockstep'));
  expect(await folder.sync(['file'])).toMatchObject({ result: 'done', hidden: [] });
});

/** A folder on a disk that reports more room than its backing file can get: fsync fails. */
async function openThinDisk(): Promise<DiskSubject> {
  const place = mkdtempSync(join(tmpdir(), 'lockstep-thin-'));
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', place]);
  onTestFinished(() => {
    execFileSync('umount', ['-l', place]);
    rmSync(place, { recursive: true });
  });
  const disk = await LoopDisk.make(place);
  onTestFinished(() => disk.remove());
  const subject = await openDiskSubject({}, disk.directory);
  // The disk is full: removal fails.
  onTestFinished(() => subject.close().catch(() => undefined));
  return subject;
}

test.skipIf(loopDiskLacks)('[MT7] a file that cannot be made durable is not put in place', async () => {
  const subject = await openThinDisk();
  const content = Buffer.alloc(96 * mebibyte, 'x');
  expect(await tryOne(subject, writeRequest(subject, 'file', content))).toMatchObject({ result: 'problem' });
  expect(await subject.user.look('file')).toBeUndefined();
});

test.skipIf(loopDiskLacks)('[PC4] bytes that the disk does not store are reported as not durable', async () => {
  const { folder, root } = await openThinDisk();
  const write = (path: string, content: Buffer): void => {
    try {
      writeFileSync(join(root, path), content);
    } catch {
      // The kernel may abort the file system at any time once its write-back has failed.
    }
  };
  writeFileSync(join(root, 'small'), 'text');
  expect(await folder.sync(['small'])).toMatchObject({ result: 'done', hidden: [] });
  write('large', Buffer.alloc(96 * mebibyte, 'x'));
  expect(await folder.sync(['large'])).toMatchObject({ result: 'failed', detail: expect.stringContaining('large') });
  // A sync of the whole file system fails too, and then each file is synced.
  const paths = Array.from({ length: syncTogetherMin }, (_, index) => `file-${index}`);
  for (const path of paths) write(path, Buffer.alloc(mebibyte, path));
  expect(await folder.sync(paths)).toMatchObject({ result: 'failed' });
});

test.skipIf(loopDiskLacks)('[PC1] no sync covers files on a disk that is not mounted', async () => {
  const { folder, root } = await openSubject();
  const mount = join(root, 'mount');
  mkdirSync(mount);
  execFileSync('mount', ['-t', 'tmpfs', 'tmpfs', mount]);
  await folder.acceptMount('mount');
  for (const path of ['file', 'mount/file']) writeFileSync(join(root, path), path);
  expect(await folder.sync(['file', 'mount/file'])).toMatchObject({ result: 'done', hidden: [] });
  execFileSync('umount', ['-l', mount]);
  expect(await folder.sync(['file', 'mount/file'])).toMatchObject({ result: 'done', hidden: ['mount/file'] });
  const many = Array.from({ length: syncTogetherMin }, (_, index) => `mount/many-${index}`);
  expect(await folder.sync(many)).toMatchObject({ result: 'done', hidden: many });
});

test.skipIf(loopDiskLacks)(
  '[PC1] many changes on a disk mounted inside the folder are durable on that disk',
  async () => {
    const { folder, root } = await openSubject();
    const place = mkdtempSync(join(tmpdir(), 'lockstep-nested-'));
    const disk = await LoopDisk.make(place);
    onTestFinished(async () => {
      await disk.remove();
      rmSync(place, { recursive: true });
    });
    const mount = join(root, 'mount');
    mkdirSync(mount);
    execFileSync('mount', ['--bind', disk.directory, mount]);
    await folder.acceptMount('mount');
    const names = Array.from({ length: syncTogetherMin }, (_, index) => `file-${index}`);
    for (const directory of ['.', 'mount']) for (const name of names) writeFileSync(join(root, directory, name), name);
    expect(await folder.sync([...names, ...names.map((name) => `mount/${name}`)])).toMatchObject({
      result: 'done',
      hidden: [],
    });
    await disk.cutPower(async () => void execFileSync('umount', [mount]));
    expect(names.map((name) => readFileSync(join(disk.directory, name), 'utf8'))).toEqual(names);
  },
);

test.skipIf(loopDiskLacks)(
  '[PC4] after the kernel aborted a file system, a sync reports that bytes were lost',
  async () => {
    const place = mkdtempSync(join(tmpdir(), 'lockstep-given-up-'));
    const disk = await LoopDisk.make(place);
    onTestFinished(async () => {
      await disk.remove();
      rmSync(place, { recursive: true });
    });
    const { folder, root, close } = await openDiskSubject({}, disk.directory);
    onTestFinished(() => close().catch(() => undefined));
    writeFileSync(join(root, 'file'), 'text');
    expect(await folder.sync(['file'])).toMatchObject({ result: 'done', hidden: [] });
    writeFileSync(join(root, 'file'), 'never reaches the disk');
    // As after an I/O error in the metadata of the file system.
    execFileSync('mount', ['-o', 'remount,abort', disk.directory]);
    expect(await folder.sync(['file'])).toMatchObject({ result: 'failed', detail: expect.stringContaining('file') });
  },
);
