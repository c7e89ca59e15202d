import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { blockBytes, type OriginId } from '@lockstep/shared';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { historyPath } from './apply/history.ts';
import { heldPath } from './apply/staging.ts';
import { type DiskSubject, openDiskSubject } from './disk-subject.contract.ts';
import { fingerprintOf } from './entry-stat.ts';
import { bytesOf, doOne, expectBytes, scanAll, tryOne, untilFlushed, writeRequest } from './folder-subject.contract.ts';
import { nodeSystemCalls } from './node-system-calls.ts';
import type { Places } from './places.ts';
import { contentFileName, hashBytes } from './read/content-id.ts';

let subject: DiskSubject;

beforeEach(async () => {
  subject = await openDiskSubject();
});

afterEach(() => subject.close());

const state = (name: string): string => join(subject.root, '.lockstep', name);
const remove = (name: string): void => rmSync(state(name), { recursive: true });
const modeOf = (name: string): number => lstatSync(state(name)).mode & 0o7777;

test('[ST1] history and staging are created again if they are removed while the agent runs', async () => {
  const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
  const keep = subject.identify(bytesOf('old')).content;
  remove('history');
  remove('staging');
  const replaced = await doOne(subject, writeRequest(subject, 'file', 'new', { expected, keep }));
  expect(readFileSync(join(subject.root, 'file'), 'utf8')).toBe('new');
  expect(await subject.folder.inHistory([keep])).toEqual(new Set([keep]));
  expect([modeOf('history'), modeOf('staging')]).toEqual([0o700, 0o700]);
  remove('history');
  const newer = subject.identify(bytesOf('new')).content;
  const unlink = { action: { do: 'unlink', path: 'file', expected: replaced }, keep: newer } as const;
  expect(await tryOne(subject, unlink)).toEqual({ result: 'done' });
  expect(await subject.folder.inHistory([newer])).toEqual(new Set([newer]));
});

test('[ST1] blocks lost with staging never count as a complete file: they are fetched again', async () => {
  const bytes = new Uint8Array(2 * blockBytes).map((_, index) => index % 251);
  const { content, blocks } = subject.identify(bytes);
  const block = (index: number) => ({
    path: 'large',
    content,
    blocks,
    size: bytes.length,
    index,
    bytes: bytes.slice(index * blockBytes, (index + 1) * blockBytes),
  });
  const source = { from: 'staged' } as const;
  expect(await subject.folder.stageBlock(block(0))).toBe('ok');
  remove('staging');
  expect(await subject.folder.stageBlock(block(1))).toBe('lost');
  expect(await tryOne(subject, writeRequest(subject, 'large', bytes, { source }))).toEqual({ result: 'source-gone' });
  for (const index of [1, 0]) expect(await subject.folder.stageBlock(block(index))).toBe('ok');
  await doOne(subject, writeRequest(subject, 'large', bytes, { source }));
  expectBytes(readFileSync(join(subject.root, 'large')), bytes);
});

test('[ST1] content that was staged completely and removed is a missing source', async () => {
  const bytes = bytesOf('staged');
  const staged = () => ({
    path: 'file',
    ...subject.identify(bytes),
    size: bytes.length,
    index: 0,
    bytes: bytes.slice(),
  });
  const request = writeRequest(subject, 'file', bytes, { source: { from: 'staged' } });
  expect(await subject.folder.stageBlock(staged())).toBe('ok');
  remove('staging');
  expect(await tryOne(subject, request)).toEqual({ result: 'source-gone' });
  await subject.folder.unstage(staged().content);
  expect(await subject.folder.stageBlock(staged())).toBe('ok');
  await doOne(subject, request);
});

test('[ST1] the directory of cookies is created again if it is removed, and flushes work again', async () => {
  const { folder } = subject;
  await folder.watch(() => undefined);
  await scanAll(subject);
  await untilFlushed(folder);
  remove('cookies');
  // The watch was lost with the directory: the first flush may report that hints may be lost.
  await untilFlushed(folder);
  expect(modeOf('cookies')).toBe(0o700);
});

test.each([
  ['a file', (path: string) => writeFileSync(path, 'a file')],
  ['a symbolic link', (path: string) => symlinkSync(state('aside'), path)],
])('[ST2] %s with the name of such a directory is a problem until it is removed', async (_, take) => {
  const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
  for (const name of ['history', 'staging', 'cookies']) {
    renameSync(state(name), state('aside'));
    take(state(name));
    const { state: problem, ok } = await subject.folder.health();
    expect(problem).toContain(`.lockstep/${name}`);
    expect(ok).toBe(true);
    const tried = await tryOne(subject, writeRequest(subject, 'file', 'new', { expected }));
    expect(tried).toMatchObject({ result: 'problem', code: 'state-unusable' });
    rmSync(state(name));
    renameSync(state('aside'), state(name));
  }
  expect((await subject.folder.health()).state).toBeUndefined();
  await doOne(subject, writeRequest(subject, 'file', 'new', { expected }));
});

test('[ST1] nothing is created in a .lockstep that was removed itself', async () => {
  renameSync(join(subject.root, '.lockstep'), join(subject.root, 'aside'));
  const tried = await tryOne(subject, writeRequest(subject, 'file', 'new'));
  expect(tried).toMatchObject({ result: 'problem', code: 'folder-missing' });
  expect(await subject.folder.health()).toMatchObject({ ok: false });
  expect(readdirSync(subject.root)).toEqual(['aside']);
  renameSync(join(subject.root, 'aside'), join(subject.root, '.lockstep'));
});

test('[CT19] a folder that is opened again keeps the blocks that were staged, and nothing else', async () => {
  const bytes = new Uint8Array(3 * blockBytes).map((_, index) => index % 251);
  const content = { ...subject.identify(bytes), size: bytes.length };
  const blockAt = (index: number) => bytes.slice(index * blockBytes, (index + 1) * blockBytes);
  for (const index of [0, 2])
    await subject.folder.stageBlock({ path: 'file', ...content, index, bytes: blockAt(index) });
  const [name = ''] = readdirSync(state('staging'));
  // A power cut can leave other bytes, and a kill a file that is in place already under another name.
  const file = openSync(join(state('staging'), name), 'r+');
  writeSync(file, 'other bytes', 2 * blockBytes);
  closeSync(file);
  writeFileSync(join(state('staging'), 't1-7'), 'half of a small file');
  const twoNames = contentFileName(hashBytes(bytesOf('in place')).content);
  writeFileSync(join(state('staging'), twoNames), 'in place');
  linkSync(join(state('staging'), twoNames), join(subject.root, 'in place'));

  await using folder = await subject.reopen();
  expect(folder.leftContents).toEqual([content.content]);
  expect(readdirSync(state('staging'))).toEqual([name]);
  expect(await folder.stagedBlocks(content)).toEqual([0]);
  for (const index of [1, 2]) {
    expect(await folder.stageBlock({ path: 'file', ...content, index, bytes: blockAt(index) })).toBe('ok');
  }
  await doOne({ ...subject, folder }, writeRequest(subject, 'large', bytes, { source: { from: 'staged' } }));
  expectBytes(readFileSync(join(subject.root, 'large')), bytes);
  expect(readFileSync(join(subject.root, 'in place'), 'utf8')).toBe('in place');
});

// Simulator, seed 100746: an agent whose calls failed could not remove the staged name of a file that it had placed.
test('[CT19] a staged file that has a name in the folder too is neither written to nor placed again', async () => {
  const bytes = new Uint8Array(2 * blockBytes).map((_, index) => index % 251);
  const { content, blocks } = subject.identify(bytes);
  const stage = (index: number) => {
    const some = bytes.slice(index * blockBytes, (index + 1) * blockBytes);
    return subject.folder.stageBlock({ path: 'file', content, blocks, size: bytes.length, index, bytes: some });
  };
  await subject.user.write('file', bytes);
  const staged = state(join('staging', contentFileName(content)));
  linkSync(join(subject.root, 'file'), staged);
  expect(await stage(0)).toBe('ok');
  expectBytes(readFileSync(join(subject.root, 'file')), bytes);
  expect(await stage(1)).toBe('ok');
  linkSync(staged, join(subject.root, 'placed'));
  const before = await subject.user.look('placed');
  const write = writeRequest(subject, 'again', bytes, { source: { from: 'staged' } });
  expect(await tryOne(subject, write)).toEqual({ result: 'source-gone' });
  expect(await subject.user.look('placed')).toEqual(before);
});

// Simulator, seed 145940.
test('[MT21] a file that loses its name in staging when the folder is opened is told, as it was and as it is', async () => {
  const path = join(subject.root, 'file');
  await subject.user.write('file', bytesOf('placed'));
  linkSync(path, state('staging/t1-7'));
  const before = fingerprintOf(lstatSync(path));
  await using folder = await subject.reopen();
  expect(readdirSync(state('staging'))).toEqual([]);
  expect(folder.released).toEqual([{ before, after: fingerprintOf(lstatSync(path)) }]);
});

describe('[MT4] a file whose only names are in staging and history when the folder is opened: the agent was killed as it replaced it', () => {
  /** Opens the folder again after a program made `late` of the file, by the row from before that. Returns the entries of the folder. */
  async function reopenedAfter(
    late: string,
    then: () => void = () => undefined,
  ): Promise<Readonly<Record<string, string>>> {
    const path = join(subject.root, 'file');
    await doOne(subject, writeRequest(subject, 'file', 'old!'));
    const { content } = subject.identify(bytesOf('old!'));
    const fingerprint = fingerprintOf(lstatSync(path));
    const row = { path: 'file', dot: { origin: 'ant.1' as OriginId, seq: 1 }, content, fingerprint };
    const { ctimeMs, size, mtimeMs } = fingerprint;
    linkSync(path, state(`staging/t1-7-changed-${ctimeMs}-held-${ctimeMs}-of-${size}-${mtimeMs}`));
    const kept = historyPath({ history: state('history') }, content);
    mkdirSync(dirname(kept), { recursive: true });
    linkSync(path, kept);
    writeFileSync(path, late);
    writeFileSync(join(subject.root, 'new'), 'new');
    renameSync(join(subject.root, 'new'), path);
    then();
    await using folder = await subject.reopen({
      shown: { withInode: (ino) => (ino === fingerprint.ino ? [row] : []) },
    });
    expect(readdirSync(state('staging'))).toEqual([]);
    expect(await folder.inHistory([content])).toEqual(new Set(late === 'old!' ? [content] : []));
    const names = readdirSync(subject.root).filter((name) => name !== '.lockstep');
    return Object.fromEntries(names.map((name) => [name, readFileSync(join(subject.root, name), 'utf8')]));
  }

  test('becomes a conflict copy if a program wrote to it in the last moment', async () => {
    const copy = expect.stringMatching(/^file\.conflict-.*-ant$/);
    const entries = await reopenedAfter('edit');
    expect(Object.entries(entries).sort()).toEqual([
      ['file', 'new'],
      [copy, 'edit'],
    ]);
  });

  test('gets its name back if that is free', async () => {
    const entries = await reopenedAfter('edit', () => rmSync(join(subject.root, 'file')));
    expect(entries).toEqual({ file: 'edit' });
  });

  test('is removed if it is as it was', async () => {
    expect(await reopenedAfter('old!')).toEqual({ file: 'new' });
  });
});

// Simulator, encounter 766: the agent was killed just after the rename(2) with which it took away what a user had put at the name.
describe('[MT4] an entry that was in staging alone, because the agent was killed as it took it away', () => {
  async function reopenedWith(make: (path: string) => void, isNameTaken: boolean): Promise<readonly string[]> {
    const path = join(subject.root, 'file');
    await doOne(subject, writeRequest(subject, 'file', 'old'));
    const { content } = subject.identify(bytesOf('old'));
    const fingerprint = fingerprintOf(lstatSync(path));
    const row = { path: 'file', dot: { origin: 'ant.1' as OriginId, seq: 1 }, content, fingerprint };
    make(join(subject.root, 'theirs'));
    renameSync(join(subject.root, 'theirs'), state(`staging/t1-7-taken-${fingerprint.ino}`));
    rmSync(path);
    if (isNameTaken) writeFileSync(path, 'new');
    await using _ = await subject.reopen({ shown: { withInode: (ino) => (ino === fingerprint.ino ? [row] : []) } });
    expect(readdirSync(state('staging'))).toEqual([]);
    return readdirSync(subject.root).filter((name) => name !== '.lockstep');
  }

  const makes: readonly (readonly [string, (path: string) => void])[] = [
    ['file', (path) => writeFileSync(path, 'theirs')],
    ['link', (path) => symlinkSync('theirs', path)],
    ['directory', (path) => mkdirSync(path)],
  ];

  test.each(makes)('a %s gets its name back if that is free', async (_, make) => {
    expect(await reopenedWith(make, false)).toEqual(['file']);
  });

  test.each(makes)('a %s becomes a conflict copy if it is not', async (_, make) => {
    expect(await reopenedWith(make, true)).toEqual(['file', expect.stringMatching(/^file\.conflict-.*-ant$/)]);
  });
});

describe('[MT21] a file that an agent was replacing when it was killed', () => {
  const killed = async (then: (path: string) => void) => {
    const path = join(subject.root, 'file');
    await subject.user.write('file', bytesOf('old'));
    const before = fingerprintOf(lstatSync(path));
    const staging = state('staging');
    const places = { staging, system: nodeSystemCalls(), temporaryName: () => 't1-7' } as Places;
    linkSync(path, heldPath(places, before));
    then(path);
    await using folder = await subject.reopen();
    expect(readdirSync(staging)).toEqual([]);
    return { before, told: folder.released[0]?.before, after: fingerprintOf(lstatSync(path)) };
  };

  test('is told with the change time that it had before', async () => {
    const { before, told } = await killed(() => undefined);
    expect(told).toEqual(before);
  });

  test('is not if a user changed it since', async () => {
    const { before, told } = await killed((path) => {
      // The name is older than the change, as after a start that came later.
      const [name = ''] = readdirSync(state('staging'));
      renameSync(state(join('staging', name)), state(join('staging', name.replace(/-held-.*$/, '-held-1000'))));
      chmodSync(path, 0o600);
    });
    expect(told?.ctimeMs).not.toBe(before.ctimeMs);
  });
});

test('[MT21] a staged content that has a name in the folder too keeps its change time when it is dropped', async () => {
  const bytes = bytesOf('placed');
  const { content } = subject.identify(bytes);
  await subject.user.write('file', bytes);
  linkSync(join(subject.root, 'file'), state(join('staging', contentFileName(content))));
  const before = fingerprintOf(lstatSync(join(subject.root, 'file')));
  await subject.folder.unstage(content);
  expect(fingerprintOf(lstatSync(join(subject.root, 'file')))).toEqual(before);
});

test('[MT21] a version in history that is a file of the folder too keeps its change time beyond the limits', async () => {
  const bytes = bytesOf('old');
  const { content } = subject.identify(bytes);
  await subject.user.write('file', bytes);
  const shard = state(join('history', content.slice(content.indexOf(':') + 1).slice(0, 2)));
  mkdirSync(shard, { recursive: true });
  linkSync(join(subject.root, 'file'), join(shard, contentFileName(content)));
  const before = fingerprintOf(lstatSync(join(subject.root, 'file')));
  expect((await subject.folder.countHistory()).versions).toBe(1);
  await subject.folder.trimHistory({ bytesMax: 0, filesMax: 0, ageMsMax: 0 }, () => false);
  expect(fingerprintOf(lstatSync(join(subject.root, 'file')))).toEqual(before);
});
