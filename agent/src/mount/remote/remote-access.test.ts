import { mkdirSync, mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { secondsOf } from '../../os/file-time.ts';
import { MountError } from '../errno.ts';
import { OpenFile, OpenHandle } from '../files/open-file.ts';
import { OpenFiles } from '../files/open-files.ts';
import { FolderAccess } from '../folder/folder-access.ts';
import { RemoteAccess } from './remote-access.ts';
import type { RemoteEntry, RemoteFiles } from './remote-files.ts';
import { RoomReserver } from './room-reserver.ts';

let folder: string;
let access: RemoteAccess;
/** The agent's answer about a directory, and a callback that runs right after it. */
let remote: string[];
let afterList: () => void;
/** The paths of which the mount told that it changed them. */
let changed: string[];
/** The paths that the mount had brought and kept, and what bringing does. */
let held: string[];
let bring: (path: string) => void;
/** The version that the agent names. */
let versionNow: string | undefined;
let remoteMtimeMs: number;

const entryOf = (name: string): RemoteEntry => {
  return { name, version: 'ant.1:1', size: 1, mode: 0o644, mtimeMs: remoteMtimeMs };
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lockstep-remote-access-'));
  mkdirSync(join(folder, 'd'));
  [remote, changed, held, afterList, bring] = [[], [], [], () => undefined, () => undefined];
  versionNow = entryOf('').version;
  remoteMtimeMs = 0;
  const find = (path: string) => Promise.resolve(remote.map(entryOf).find(({ name }) => path === `d/${name}`));
  const files: Partial<RemoteFiles> = {
    async list() {
      const listed = remote.map(entryOf);
      afterList();
      return listed;
    },
    find,
    findNow: find,
    async hold(path) {
      held.push(path);
      bring(path);
      return { release: () => undefined };
    },
    versionNow: () => Promise.resolve(versionNow),
    read: () => Promise.resolve(Buffer.from('x')),
    used: () => undefined,
    changed: (path) => void changed.push(path),
  };
  const staging = { folder, member: 'ant', newPath: () => join(folder, 'draft'), nowMs: () => 0 };
  const all = files as RemoteFiles;
  access = new RemoteAccess(new FolderAccess(folder, staging), all, new RoomReserver(all));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const listed = async (): Promise<string[]> => (await access.list('d')).map(({ name }) => name).sort();

test('[OD12] a file that the agent drops while its directory is listed is listed', async () => {
  writeFileSync(join(folder, 'd/dropped'), 'x');
  afterList = () => {
    rmSync(join(folder, 'd/dropped'));
    remote = ['dropped'];
  };
  expect(await listed()).toEqual(['dropped']);
});

test('[OD12] a file that is brought to the folder while its directory is listed is listed once', async () => {
  remote = ['brought'];
  afterList = () => {
    writeFileSync(join(folder, 'd/brought'), 'x');
    remote = [];
  };
  expect(await listed()).toEqual(['brought']);
});

test('[OD12] a file that comes to the disk, or leaves it, is no change of it or of its directory for a program', async () => {
  const show = async () => {
    const [file, directory] = [access.shown(await access.stat('d/a')), access.shown(await access.stat('d'))];
    return [file.mtimeMs, file.ctimeMs, file.size, directory.ctimeMs, directory.size];
  };
  remoteMtimeMs = 1_000;
  remote = ['a'];
  const before = await show();
  writeFileSync(join(folder, 'd/a'), 'x');
  utimesSync(join(folder, 'd/a'), 1, 1);
  // The directory needs more blocks for its names.
  for (let name = 0; name < 200; name++) writeFileSync(join(folder, 'd', `${name}-${'n'.repeat(200)}`), '');
  expect(await show()).toEqual(before);
  rmSync(join(folder, 'd/a'));
  expect(await show()).toEqual(before);
});

test('[OD12] what the mount removes or renames in the folder is told to those who keep lists', async () => {
  writeFileSync(join(folder, 'd/a'), 'x');
  writeFileSync(join(folder, 'd/b'), 'x');
  await access.removeFile('d/a');
  await access.rename('d/b', 'd/c');
  expect(changed).toEqual(['d/a', 'd/b', 'd/c']);
  expect(await listed()).toEqual(['c']);
});

test('[OD12] a file of the folder is renamed, and gets its mode and time, without a question; what it replaces is kept meanwhile', async () => {
  writeFileSync(join(folder, 'd/a'), 'x');
  writeFileSync(join(folder, 'd/old'), 'x');
  await access.setMode('d/a', 0o600);
  await access.setTimes('d/a', 1_000, 1_000);
  await access.rename('d/a', 'd/b');
  expect(held).toEqual([]);
  await access.rename('d/b', 'd/old');
  expect(held).toEqual(['d/old']);
});

test('[OD12] a file that the agent drops at the moment of its rename is brought, and renamed', async () => {
  writeFileSync(join(folder, 'd/a'), 'x');
  writeFileSync(join(folder, 'd/b'), 'old');
  bring = (path) => {
    if (held.length === 1) {
      rmSync(join(folder, 'd/a'));
      remote = ['a'];
    }
    if (path !== 'd/a') return;
    writeFileSync(join(folder, 'd/a'), 'x');
    remote = [];
  };
  await access.rename('d/a', 'd/b');
  expect(held).toEqual(['d/b', 'd/a', 'd/b']);
  expect(await listed()).toEqual(['b']);
});

test('[OD12] what a program writes to a version that was replaced meanwhile does not get into the new one', async () => {
  remote = ['a', 'b'];
  bring = (path) => writeFileSync(join(folder, path), 'x');
  const present = await access.open('d/a');
  const kept = await access.keep('d/a', present);
  kept.opened.close();
  const replaced = await access.open('d/b');
  versionNow = 'bee.1:2';
  await expect(access.keep('d/b', replaced)).rejects.toMatchObject({ code: 'ESTALE' });
});

test('[OD12] the first write to a file that was deleted since it was opened fails with ESTALE', async () => {
  remote = ['a'];
  const opened = await access.open('d/a');
  bring = () => {
    throw new MountError('ENOENT');
  };
  await expect(access.keep('d/a', opened)).rejects.toMatchObject({ code: 'ESTALE' });
});

function writeAt(timeUs: number): void {
  writeFileSync(join(folder, 'd/a'), 'x');
  utimesSync(join(folder, 'd/a'), secondsOf(timeUs), secondsOf(timeUs));
}

test('[OD12] a file that was dropped since it was opened, and is brought again, becomes no conflict copy', async () => {
  const timeUs = 1_700_000_000_123_456;
  writeAt(timeUs);
  const opened = await access.open('d/a');
  bring = () => {
    rmSync(join(folder, 'd/a'));
    // The fraction of a microsecond is lost.
    writeAt(timeUs - 1);
  };
  const kept = await access.keep('d/a', opened);
  expect(kept.opened.version).toBe((await access.open('d/a')).version);
});

describe('[FM11] a program goes on reading the version that it opened, when another one opens the file', () => {
  const openTwice = async (meanwhile: () => void): Promise<string> => {
    const parts = { access, onConflict: () => undefined };
    const file = await OpenFile.existing(parts, 'd/a');
    const reader = new OpenHandle(file);
    await file.read(Buffer.alloc(1), 0, reader);
    meanwhile();
    await file.refresh(false);
    const buffer = Buffer.alloc(1);
    const length = await file.read(buffer, 0, reader);
    await file.close();
    return buffer.toString('utf8', 0, length);
  };

  test('and it has come to the disk meanwhile', async () => {
    remote = ['a'];
    expect(await openTwice(() => writeFileSync(join(folder, 'd/a'), 'x'))).toBe('x');
  });

  test('and it has left the disk meanwhile', async () => {
    writeFileSync(join(folder, 'd/a'), 'x');
    const { mtimeMs } = statSync(join(folder, 'd/a'));
    const left = (): void => {
      rmSync(join(folder, 'd/a'));
      remoteMtimeMs = Math.floor(mtimeMs * 1_000) / 1_000;
      remote = ['a'];
    };
    expect(await openTwice(left)).toBe('x');
  });

  test('unless the version that has come is another one', async () => {
    remote = ['a'];
    const replaced = (): void => {
      versionNow = 'bee.1:2';
      writeFileSync(join(folder, 'd/a'), 'y');
    };
    await expect(openTwice(replaced)).rejects.toMatchObject({ code: 'ESTALE' });
  });
});

test('[OD12] a program cannot write to a version that is not on the disk, and was removed since it was opened', async () => {
  remote = ['a'];
  const files = new OpenFiles({ access, onConflict: () => undefined });
  const opened = files.of(await files.open('d/a'));
  files.detach('d/a', 'hidden');
  await expect((async () => opened.file.write(Buffer.from('y'), 0, opened))()).rejects.toMatchObject({
    code: 'ESTALE',
  });
  await opened.file.truncate(0);
  expect(opened.file.stat().size).toBe(0);
  await opened.file.close();
});
