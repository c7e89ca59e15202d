import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Action } from '../sync/ports/folder.ts';
import { type DiskSubject, openDiskSubject } from './disk-subject.contract.ts';
import { fingerprintOf } from './entry-stat.ts';
import {
  bytesOf,
  doOne,
  fingerprintAt,
  mtimeUs,
  observeOne,
  scanAll,
  tryOne,
  writeRequest,
} from './folder-subject.contract.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

let subject: DiskSubject;

beforeEach(async () => {
  subject = await openDiskSubject();
});
afterEach(async () => {
  await subject.close();
});

function inFolder(path: string): string {
  return join(subject.root, path);
}

test('[MT8] entries behind a symbolic link are absent, and are not touched', async () => {
  const outside = `${subject.root}-outside`;
  mkdirSync(outside);
  writeFileSync(join(outside, 'file'), 'outside');
  const expected = await doOne(subject, writeRequest(subject, 'elsewhere', 'outside'));
  symlinkSync(outside, inFolder('link'));
  expect(await observeOne(subject, 'link/file')).toMatchObject({ state: 'absent' });
  expect(await scanAll(subject, 'link')).toMatchObject([{ absent: true }]);
  const actions: Action[] = [
    { do: 'mkdir', path: 'link/d', expected: 'absent', mode: 0o755 },
    { do: 'unlink', path: 'link/file', expected },
    { do: 'rename', from: 'elsewhere', to: 'link/moved', expectedFrom: expected, expected: 'absent' },
    { do: 'symlink', path: 'link/l', expected: 'absent', target: 'x', mtimeUs },
    { do: 'attr', path: 'link/file', expected, mode: 0o600 },
  ];
  for (const action of actions) expect(await tryOne(subject, action)).toEqual({ result: 'changed' });
  expect(await tryOne(subject, writeRequest(subject, 'link/new', 'x'))).toEqual({ result: 'changed' });
  const source = { from: 'file', path: 'link/file', fingerprint: expected } as const;
  const copy = writeRequest(subject, 'copy', 'outside', { source });
  expect(await tryOne(subject, copy)).toEqual({ result: 'source-gone' });
  expect(readdirSync(outside)).toEqual(['file']);
  expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('outside');
  rmSync(outside, { recursive: true });
});

test('[LC10] sockets and pipes are skipped, and not overwritten', async () => {
  execFileSync('mkfifo', [inFolder('pipe')]);
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(inFolder('socket'), resolve));
  for (const path of ['pipe', 'socket']) {
    expect(await observeOne(subject, path)).toEqual({ path, state: 'special' });
    const request = writeRequest(subject, path, 'x');
    expect(await tryOne(subject, request)).toMatchObject({ result: 'problem', code: 'path-in-the-way' });
    expect(lstatSync(inFolder(path)).isFile()).toBe(false);
  }
  const [scanned] = await scanAll(subject);
  expect(scanned?.entries).toEqual([]);
  expect(scanned?.skipped.map(({ name, code }) => `${name} ${code}`).sort()).toEqual([
    'pipe path-special',
    'socket path-special',
  ]);
  await new Promise((resolve) => server.close(resolve));
});

test('[LC10] nothing is staged for a path whose entry is left alone, at any attempt', async () => {
  mkdirSync(inFolder('directory'));
  execFileSync('mkfifo', [inFolder('pipe'), inFolder('directory/pipe')]);
  const staging = inFolder('.lockstep/staging');
  const before = lstatSync(staging, { bigint: true }).mtimeNs;
  for (const path of ['pipe', 'directory']) {
    const expected = path === 'pipe' ? 'absent' : await fingerprintAt(subject, path);
    const { action, ...request } = writeRequest(subject, path, 'x');
    const tried = await tryOne(subject, { ...request, action: { ...action, expected } as Action });
    expect(tried).toMatchObject({ result: 'problem', code: 'path-in-the-way' });
  }
  expect(lstatSync(staging, { bigint: true }).mtimeNs).toBe(before);
});

test('[LC10] a directory that cannot make room changes nothing above it, at any attempt', async () => {
  writeFileSync(inFolder('file'), 'text');
  mkdirSync(inFolder('closed/directory'), { recursive: true });
  execFileSync('mkfifo', [inFolder('closed/directory/pipe')]);
  const path = 'closed/directory';
  const [expectedFrom, expected] = [await fingerprintAt(subject, 'file'), await fingerprintAt(subject, path)];
  chmodSync(inFolder('closed'), 0o500);
  const before = lstatSync(inFolder('closed'), { bigint: true }).ctimeNs;
  const actions: readonly Action[] = [
    { do: 'rmdir', path, isReplaced: true },
    { do: 'rename', from: 'file', to: path, expectedFrom, expected },
  ];
  for (const action of actions)
    expect(await tryOne(subject, action)).toMatchObject({ result: 'problem', code: 'path-in-the-way' });
  expect(lstatSync(inFolder('closed'), { bigint: true }).ctimeNs).toBe(before);
});

test('[LC10] exactly the names that are not UTF-8 are skipped', async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${subject.root}/caf`), Buffer.from([0xe9])]), 'x');
  writeFileSync(inFolder('really \ufffd'), 'x');
  symlinkSync(Buffer.from([0x2e, 0xff]), inFolder('link'));
  const [scanned] = await scanAll(subject);
  expect(scanned?.entries.map(({ name }) => name).sort()).toEqual(['link', 'really \ufffd']);
  expect(scanned?.skipped).toEqual([{ name: 'caf\\xe9', code: 'path-not-utf8' }]);
  expect(await observeOne(subject, 'link')).toMatchObject({ state: 'special', problem: { code: 'path-not-utf8' } });
  const written = await tryOne(subject, writeRequest(subject, 'link', 'over it'));
  expect(written).toMatchObject({ result: 'problem', code: 'path-in-the-way' });
});

test.each(['x'.repeat(255), 'é'.repeat(127), ' lead and trail ', '-n', 'new\nline', 'a\\b', '%2e', '🙂', '.lockstep2'])(
  '[LC11] the name %j is a normal name',
  async (name) => {
    const fingerprint = await doOne(subject, writeRequest(subject, name, 'text'));
    const [scanned] = await scanAll(subject);
    expect(scanned?.entries).toEqual([{ name, type: 'file', fingerprint }]);
    expect(await observeOne(subject, name)).toMatchObject({ state: 'file', bytes: bytesOf('text') });
    expect(await tryOne(subject, { do: 'unlink', path: name, expected: fingerprint })).toEqual({ result: 'done' });
  },
);

test('[WT23] paths above the limit are left alone, with what is below them; names that no file system accepts are a problem', async () => {
  const name = 'x'.repeat(250);
  let path = '';
  for (let depth = 0; depth < 13; depth++) {
    path = path === '' ? name : `${path}/${name}`;
    if (path.length <= 3_072) mkdirSync(inFolder(path));
    else execFileSync('mkdir', [name], { cwd: inFolder(path.slice(0, path.lastIndexOf('/'))) });
  }
  const found = await scanAll(subject);
  expect(found.at(-1)?.skipped).toEqual([{ name, code: 'path-too-long' }]);
  expect(await observeOne(subject, path)).toMatchObject({ state: 'special', problem: { code: 'path-too-long' } });
  expect(await observeOne(subject, `${path}/below`)).toEqual({ path: `${path}/below`, state: 'absent' });
  execFileSync('rmdir', [name], { cwd: inFolder(path.slice(0, path.lastIndexOf('/'))) });
  expect(await observeOne(subject, path)).toEqual({ path, state: 'absent' });
  expect(await observeOne(subject, 'y'.repeat(256))).toMatchObject({ state: 'absent' });
  expect(await tryOne(subject, writeRequest(subject, 'y'.repeat(256), 'x'))).toMatchObject({ code: 'path-too-long' });
});

test('[LC1] a fingerprint is racy while a change could leave it unchanged', async () => {
  // On a busy machine the observation may come too late.
  await vi.waitFor(async () => {
    writeFileSync(inFolder('file'), 'a');
    expect(await observeOne(subject, 'file')).toMatchObject({ state: 'file', racy: true });
  }, patience);
  await vi.waitFor(async () => expect(await observeOne(subject, 'file')).toMatchObject({ racy: false }), patience);
});

test('[WT5] .lockstep is neither listed, nor observed', async () => {
  const [scanned] = await scanAll(subject);
  expect(scanned).toMatchObject({ entries: [], skipped: [] });
  for (const path of ['.lockstep', '.lockstep/staging']) {
    expect(await observeOne(subject, path)).toMatchObject({ state: 'problem' });
  }
});

test("[WT7] [MT8] nothing is written to another member's state, and nothing read from it", async () => {
  mkdirSync(inFolder('a/.lockstep'), { recursive: true });
  writeFileSync(inFolder('a/.lockstep/identity.key'), 'secret');
  const expected = fingerprintOf(lstatSync(inFolder('a/.lockstep/identity.key')));
  const actions = [
    writeRequest(subject, 'a/.lockstep/new', 'x'),
    writeRequest(subject, 'a/.lockstep/identity.key', 'x', { expected }),
    { do: 'mkdir', path: 'a/.lockstep/d', expected: 'absent', mode: 0o755 },
    { do: 'unlink', path: 'a/.lockstep/identity.key', expected },
    { do: 'rename', from: 'a/.lockstep/identity.key', to: 'out', expectedFrom: expected, expected: 'absent' },
    { do: 'rmdir', path: 'a/.lockstep' },
  ] as const;
  for (const action of actions) {
    expect(await tryOne(subject, action)).toMatchObject({ result: 'problem', code: 'path-reserved' });
  }
  expect(readdirSync(inFolder('a/.lockstep'))).toEqual(['identity.key']);
  expect(readFileSync(inFolder('a/.lockstep/identity.key'), 'utf8')).toBe('secret');
});

test('[CT5] bytes with a wrong hash are never visible', async () => {
  const request = writeRequest(subject, 'file', 'right', { source: { from: 'bytes', bytes: bytesOf('wrong') } });
  expect(await tryOne(subject, request)).toMatchObject({ result: 'problem', code: 'content-corrupt' });
  expect(readdirSync(subject.root)).toEqual(['.lockstep']);
});

test('a kept version that was written to later does not count as its content', async () => {
  const expected = await doOne(subject, writeRequest(subject, 'file', 'old'));
  const { content } = subject.identify(bytesOf('old'));
  await doOne(subject, writeRequest(subject, 'file', 'new', { expected, keep: content }));
  const [shard = ''] = readdirSync(inFolder('.lockstep/history'));
  const [kept] = readdirSync(inFolder(`.lockstep/history/${shard}`));
  writeFileSync(inFolder(`.lockstep/history/${shard}/${kept}`), 'tampered');
  const back = writeRequest(subject, 'back', 'old', { source: { from: 'history' } });
  expect(await tryOne(subject, back)).toEqual({ result: 'source-gone' });
  expect(await subject.folder.inHistory([content])).toEqual(new Set());
});

test('hard links: renaming one name onto another leaves the target', async () => {
  const expectedFrom = await doOne(subject, writeRequest(subject, 'a', 'text'));
  execFileSync('ln', ['a', 'b'], { cwd: subject.root });
  const linked = await fingerprintAt(subject, 'b');
  expect(linked.ino).toBe(expectedFrom.ino);
  await doOne(subject, { do: 'rename', from: 'a', to: 'b', expectedFrom: linked, expected: linked });
  expect(readdirSync(subject.root).sort()).toEqual(['.lockstep', 'b']);
});

test('staging of an earlier agent is cleared; history stays', async () => {
  writeFileSync(inFolder('.lockstep/staging/left'), 'x', { mode: 0o400 });
  const source = { from: 'bytes', bytes: bytesOf('kept') } as const;
  const { content } = subject.identify(source.bytes);
  expect(await subject.folder.keep([{ content, size: 4, source }])).toEqual([true]);
  await using again = await subject.reopen();
  expect(readdirSync(inFolder('.lockstep/staging'))).toEqual([]);
  expect(await again.inHistory([content])).toEqual(new Set([content]));
});

test('one staged content can become several files, and survives an action that is not done', async () => {
  const bytes = bytesOf('staged once');
  const block = { path: 'file', ...subject.identify(bytes), size: bytes.length, index: 0, bytes: bytes.slice() };
  await subject.folder.stageBlock(block);
  writeFileSync(inFolder('taken'), 'theirs');
  const source = { from: 'staged' } as const;
  expect(await tryOne(subject, writeRequest(subject, 'taken', bytes, { source, mode: 0o400 }))).toEqual({
    result: 'changed',
  });
  const several = ['a', 'b', 'c'].map((path) => writeRequest(subject, path, bytes, { source }));
  expect((await subject.folder.apply(several)).map(({ result }) => result)).toEqual(['done', 'done', 'done']);
  expect(new Set(['a', 'b', 'c'].map((path) => lstatSync(inFolder(path)).ino)).size).toBe(3);
  expect(readdirSync(inFolder('.lockstep/staging'))).toEqual([]);
});

test('a batch large enough for one syncfs', async () => {
  const requests = Array.from({ length: 40 }, (_, index) => writeRequest(subject, `f${index}`, `text ${index}`));
  const results = await subject.folder.apply(requests);
  expect(results.every(({ result }) => result === 'done')).toBe(true);
  expect(readFileSync(inFolder('f39'), 'utf8')).toBe('text 39');
  expect(readdirSync(inFolder('.lockstep/staging'))).toEqual([]);
});

test('modes: no wider than requested, special bits too', async () => {
  await doOne(subject, writeRequest(subject, 'secret', 'x', { mode: 0o400 }));
  await doOne(subject, writeRequest(subject, 'tool', 'x', { mode: 0o6755 }));
  await doOne(subject, { do: 'mkdir', path: 'shared', expected: 'absent', mode: 0o1777 });
  const modeOf = (path: string): number => lstatSync(inFolder(path)).mode & 0o7777;
  expect([modeOf('secret'), modeOf('tool'), modeOf('shared')]).toEqual([0o400, 0o6755, 0o1777]);
  chmodSync(inFolder('shared'), 0o755);
});

test('[CT7] a kept version is an independent file, even if history has a second name of a file that is written to', async () => {
  const fingerprint = await doOne(subject, writeRequest(subject, 'file', 'kept'));
  const { content } = subject.identify(bytesOf('kept'));
  const source = { from: 'file', path: 'file', fingerprint } as const;
  expect(await subject.folder.keep([{ content, size: 4, source }])).toEqual([true]);
  const history = join(subject.root, '.lockstep/history');
  const [name = ''] = readdirSync(history, { recursive: true, encoding: 'utf8' }).filter((each) => each.includes('/'));
  rmSync(join(history, name));
  linkSync(join(subject.root, 'file'), join(history, name));
  expect(await subject.folder.keep([{ content, size: 4, source: { from: 'history' } }])).toEqual([true]);
  writeFileSync(join(subject.root, 'file'), 'over');
  expect(readFileSync(join(history, name), 'utf8')).toBe('kept');
});
