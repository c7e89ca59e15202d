import { execFileSync } from 'node:child_process';
import { mkdirSync, renameSync, rmdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { joinPath } from '@lockstep/shared';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { WatchHint } from '../../sync/ports/folder.ts';
import { type DiskSubject, openDiskSubject, silentLog } from '../disk-subject.contract.ts';
import { doOne, fingerprintAt, scanAll, untilFlushed, writeRequest } from '../folder-subject.contract.ts';
import { runInChild } from '../in-child.contract.ts';
import { nodeSystemCalls } from '../node-system-calls.ts';
import type { SystemCalls } from '../system-calls.ts';
import { Watcher } from './watcher.ts';

/** In milliseconds: long enough for a machine that is busy with other tests. */
const patience = 20_000;

let subject: DiskSubject;
let hints: WatchHint[] = [];
let outside: string;

function inFolder(path: string): string {
  return join(subject.root, path);
}

/**
 * Lets `begin` start to watch without the ticks that detect a stall of the event loop: on a busy machine one may come a second late, and
 * then a hint for the whole folder takes the place of all others.
 */
async function withoutTicks<Result>(begin: () => Result | Promise<Result>): Promise<Result> {
  vi.useFakeTimers({ toFake: ['setInterval'] });
  try {
    // A folder ends its former watches first: its ticks begin later.
    return await begin();
  } finally {
    vi.useRealTimers();
  }
}

beforeEach(async () => {
  subject = await openDiskSubject();
  // Next to the folder, on the same file system: source and target of moves.
  outside = `${subject.root}-outside`;
  mkdirSync(outside);
  hints = [];
  await withoutTicks(() => subject.folder.watch((more) => hints.push(...more)));
  await scanAll(subject);
});

afterEach(async () => {
  await subject.close();
  rmSync(outside, { recursive: true, force: true });
});

/** Reacts to hints as an agent does: observes paths and scans directories. Returns all paths that it found. */
function follow(): { readonly seen: Set<string>; stop(): void } {
  const seen = new Set<string>();
  const known = new Map<string, number>();
  let stopped = false;
  const take = async (): Promise<void> => {
    for (let hint = hints.shift(); hint !== undefined && !stopped; hint = hints.shift()) {
      if (hint.kind === 'directory') await scanInto(hint.path, hint.recursive);
      else await observe(hint.path);
    }
  };
  const observe = async (path: string): Promise<void> => {
    seen.add(path);
    const [found] = await subject.folder.observe([{ path }]);
    if (found?.state !== 'directory' || known.get(path) === found.fingerprint.ino) return;
    known.set(path, found.fingerprint.ino);
    await scanInto(path, true);
  };
  const scanInto = async (path: string, recursive: boolean): Promise<void> => {
    for (const directory of await scanAll(subject, path, { recursive })) {
      for (const { name } of directory.entries) seen.add(joinPath(directory.path, name));
    }
  };
  let busy = Promise.resolve();
  const immediate = setInterval(() => {
    busy = busy.then(take);
  }, 5);
  return {
    seen,
    stop: () => {
      stopped = true;
      clearInterval(immediate);
    },
  };
}

async function expectHint(hint: WatchHint): Promise<void> {
  await vi.waitFor(() => expect(hints).toContainEqual(hint), patience);
}

async function expectPathHint(path: string): Promise<void> {
  await expectHint({ kind: 'path', path });
}

describe('entries created faster than they can be watched', () => {
  test('[LC8] mkdir -p with a file, at once', async () => {
    const { seen, stop } = follow();
    execFileSync('sh', ['-c', 'mkdir -p a/b/c && echo x > a/b/c/file'], { cwd: subject.root });
    await vi.waitFor(
      () => expect([...seen]).toEqual(expect.arrayContaining(['a', 'a/b', 'a/b/c', 'a/b/c/file'])),
      patience,
    );
    stop();
  });

  test('[LC8] a tree moved in, changed there, moved out, and in again under another name', async () => {
    mkdirSync(join(outside, 'tree/sub'), { recursive: true });
    writeFileSync(join(outside, 'tree/sub/file'), 'x');
    const { seen, stop } = follow();
    renameSync(join(outside, 'tree'), inFolder('tree'));
    await vi.waitFor(() => expect(seen).toContain('tree/sub/file'), patience);
    seen.clear();
    writeFileSync(inFolder('tree/sub/more'), 'y');
    await vi.waitFor(() => expect(seen).toContain('tree/sub/more'), patience);
    seen.clear();
    renameSync(inFolder('tree'), join(outside, 'tree'));
    await vi.waitFor(() => expect(seen).toContain('tree'), patience);
    renameSync(join(outside, 'tree'), inFolder('other'));
    await vi.waitFor(() => expect(seen).toContain('other/sub/more'), patience);
    seen.clear();
    writeFileSync(inFolder('other/sub/file'), 'z');
    await vi.waitFor(() => expect(seen).toContain('other/sub/file'), patience);
    expect([...seen].filter((path) => path.startsWith('tree'))).toEqual([]);
    stop();
  });
});

describe('exchanged directories', () => {
  test('a directory that was removed and created again is watched again, and scanned', async () => {
    mkdirSync(inFolder('d/sub'), { recursive: true });
    await scanAll(subject);
    hints.length = 0;
    execFileSync('sh', ['-c', 'rm -r d && mkdir -p d/sub && echo x > d/sub/file'], { cwd: subject.root });
    await expectHint({ kind: 'directory', path: 'd', recursive: true });
    await scanAll(subject, 'd');
    hints.length = 0;
    writeFileSync(inFolder('d/sub/later'), 'x');
    await expectPathHint('d/sub/later');
  });

  test('[WT2] directories of two disks with the same inode numbers and birth times are both watched', async () => {
    const { root } = subject;
    const disks = { 'of-one': 1, 'of-a-copy': 2 };
    for (const name of Object.keys(disks)) mkdirSync(inFolder(name));
    const { ino, birthtimeMs } = statSync(inFolder('of-one'));
    const system: SystemCalls = {
      ...nodeSystemCalls(),
      lstat: (path) => {
        const stats = nodeSystemCalls().lstat(path);
        const dev = Object.entries(disks).find(([name]) => inFolder(name) === path)?.[1];
        return stats && dev ? Object.assign(stats, { dev, ino, birthtimeMs }) : stats;
      },
    };
    const places = { system, root, cookies: join(root, '.lockstep/cookies') };
    const watcher = await withoutTicks(
      () => new Watcher({ places, log: silentLog, hint: (more) => hints.push(...more) }),
    );
    for (const path of ['', ...Object.keys(disks)]) watcher.watch(path);
    hints.length = 0;
    for (const name of Object.keys(disks)) writeFileSync(inFolder(join(name, 'file')), name);
    await expect
      .poll(() => hints.map(({ path }) => path))
      .toEqual(expect.arrayContaining(['of-one/file', 'of-a-copy/file']));
    await watcher.close();
  });

  test('a directory that its user closes leads to no hint for an entry of its name', async () => {
    const { root } = subject;
    const system: SystemCalls = {
      ...nodeSystemCalls(),
      lstat: (path) => {
        // Root may enter every directory.
        if (path === inFolder('shut/shut')) throw Object.assign(new Error('closed'), { code: 'EACCES' });
        return nodeSystemCalls().lstat(path);
      },
    };
    const places = { system, root, cookies: join(root, '.lockstep/cookies') };
    mkdirSync(inFolder('shut'));
    const watcher = await withoutTicks(
      () => new Watcher({ places, log: silentLog, hint: (more) => hints.push(...more) }),
    );
    for (const path of ['', 'shut']) watcher.watch(path);
    hints.length = 0;
    execFileSync('chmod', ['000', inFolder('shut')]);
    await expectPathHint('shut');
    writeFileSync(inFolder('after'), 'x');
    await expectPathHint('after');
    expect(hints.map(({ path }) => path)).not.toContain('shut/shut');
    await watcher.close();
  });

  test('a directory whose inode number was reused is watched under its own path', async () => {
    const { root } = subject;
    const places = { system: nodeSystemCalls(), root, cookies: join(root, '.lockstep/cookies') };
    const watcher = await withoutTicks(
      () => new Watcher({ places, log: silentLog, hint: (more) => hints.push(...more) }),
    );
    const inoOf = (path: string): number => statSync(inFolder(path)).ino;
    mkdirSync(inFolder('d'));
    watcher.watch('');
    const ino = watcher.watch('d');
    // No event is delivered before this turn of the event loop ends.
    rmdirSync(inFolder('d'));
    const others = Array.from({ length: 50 }, (_, index) => `other-${index}`);
    for (const other of others) mkdirSync(inFolder(other));
    const heir = others.find((other) => inoOf(other) === ino);
    if (heir !== undefined) watcher.watch(heir);
    mkdirSync(inFolder('d'));
    hints.length = 0;
    await expectHint({ kind: 'directory', path: 'd', recursive: true });
    await watcher.close();
  });

  test('a directory renamed by a user has its new name once it is scanned', async () => {
    mkdirSync(inFolder('old/sub'), { recursive: true });
    await scanAll(subject);
    renameSync(inFolder('old'), inFolder('new'));
    await expectPathHint('new');
    await scanAll(subject, 'new');
    hints.length = 0;
    writeFileSync(inFolder('new/sub/file'), 'x');
    await expectPathHint('new/sub/file');
    writeFileSync(inFolder('new/file'), 'x');
    await expectPathHint('new/file');
    expect(hints.filter(({ path }) => path.startsWith('old'))).toEqual([]);
  });

  test('a directory renamed by the agent has its new name at once', async () => {
    mkdirSync(inFolder('old/sub'), { recursive: true });
    await scanAll(subject);
    const expectedFrom = await fingerprintAt(subject, 'old');
    await doOne(subject, { do: 'rename-directory', from: 'old', to: 'new', expectedFrom, names: ['sub'], mode: 0o755 });
    writeFileSync(inFolder('new/sub/file'), 'x');
    await expectPathHint('new/sub/file');
    execFileSync('chmod', ['700', inFolder('new')]);
    await expectPathHint('new');
    expect(hints.filter(({ path }) => path.startsWith('old/sub'))).toEqual([]);
  });

  test('a directory created by the agent is watched at once', async () => {
    await doOne(subject, { do: 'mkdir', path: 'made', expected: 'absent', mode: 0o755 });
    writeFileSync(inFolder('made/file'), 'x');
    await expectPathHint('made/file');
  });

  test('an entry with the name of its directory is not confused with it', async () => {
    mkdirSync(inFolder('same'));
    await scanAll(subject);
    hints.length = 0;
    writeFileSync(inFolder('same/same'), 'x');
    await expectPathHint('same/same');
    hints.length = 0;
    rmSync(inFolder('same/same'));
    await expectPathHint('same/same');
    expect(hints.filter(({ kind }) => kind === 'directory')).toEqual([]);
  });
});

test.each(['back\\slash', 'new\nline', '-dash', 'emoji 🙂', '%41', 'x'.repeat(255)])(
  'names in a directory called %j',
  async (name) => {
    mkdirSync(inFolder(name));
    await scanAll(subject);
    writeFileSync(join(subject.root, name, 'file'), 'x');
    await expectPathHint(`${name}/file`);
  },
);

test('a name that is not UTF-8 leads to a hint for its directory', async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${subject.root}/`), Buffer.from([0xff, 0x41])]), 'x');
  await expectHint({ kind: 'directory', path: '', recursive: false });
});

test('[WT5] changes in .lockstep lead to no hints', async () => {
  hints.length = 0;
  await doOne(subject, writeRequest(subject, 'file', 'x'));
  execFileSync('chmod', ['755', inFolder('.lockstep')]);
  writeFileSync(inFolder('.lockstep/journal.db'), 'x');
  writeFileSync(inFolder('last'), 'x');
  await expectPathHint('last');
  expect(hints.filter(({ path }) => path.startsWith('.lockstep'))).toEqual([]);
});

test("[WT7] another member's state leads to a hint for its directory, and changes in it to none", async () => {
  mkdirSync(inFolder('a/.lockstep'), { recursive: true });
  await scanAll(subject);
  await expectPathHint('a');
  hints.length = 0;
  writeFileSync(inFolder('a/.lockstep/journal.db'), 'x');
  writeFileSync(inFolder('a/last'), 'x');
  await expectPathHint('a/last');
  expect(hints.filter((hint) => hint.path !== 'a/last')).toEqual([]);
  renameSync(inFolder('a/.lockstep'), join(outside, 'state'));
  await expectHint({ kind: 'directory', path: 'a', recursive: false });
});

test('[WT4] directories beyond the limit of inotify are reported, and watched once there is room', async () => {
  const outcome = await runInChild({
    root: subject.root,
    // The limit of a new user namespace affects no other test.
    wrapper: ['unshare', '-Ur', 'sh', '-c', 'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"', 'sh'],
    script: `
      for (const name of ['a', 'b', 'c', 'd']) fs.mkdirSync(root + '/' + name);
      const folder = await openHere();
      await folder.watch(() => {});
      const scan = async () => { for await (const _ of folder.scan('', { recursive: true, skip: () => false })); };
      await scan();
      const before = folder.unwatched().map(({ path }) => path).sort();
      for (const name of ['a', 'b']) fs.rmdirSync(root + '/' + name);
      await scan();
      for (const name of ['a', 'b']) { for await (const _ of folder.scan(name, { recursive: true, skip: () => false })); }
      await scan();
      answer({ before, after: folder.unwatched() });
      await folder.close();`,
  });
  expect(outcome).toMatchObject({ errors: '', answer: { before: ['c', 'd'], after: [] } });
});

test('[WT4] directories beyond the limit of inotify are known by their new names when the agent renames them', async () => {
  const outcome = await runInChild({
    root: subject.root,
    wrapper: ['unshare', '-Ur', 'sh', '-c', 'echo 3 > /proc/sys/user/max_inotify_watches && exec "$@"', 'sh'],
    script: `
      for (const name of ['a', 'b', 'c', 'c/x', 'c/x/y']) fs.mkdirSync(root + '/' + name);
      const folder = await openHere();
      await folder.watch(() => {});
      for await (const _ of folder.scan('', { recursive: true, skip: () => false }));
      const unwatched = () => folder.unwatched().map(({ path }) => path).sort();
      const before = unwatched();
      const [{ fingerprint: expectedFrom }] = await folder.observe([{ path: 'c' }]);
      const rename = { do: 'rename-directory', from: 'c', to: 'd', expectedFrom, names: ['x', 'x/y'], mode: 0o755 };
      const [{ result }] = await folder.apply([{ action: rename }]);
      const after = unwatched();
      for await (const _ of folder.scan('gone', { recursive: true, skip: () => false }));
      fs.rmSync(root + '/d', { recursive: true });
      for await (const _ of folder.scan('d', { recursive: true, skip: () => false }));
      answer({ before, result, after, left: unwatched() });
      await folder.close();`,
  });
  expect(outcome).toMatchObject({
    errors: '',
    answer: { before: ['c', 'c/x', 'c/x/y'], result: 'done', after: ['d', 'd/x', 'd/x/y'], left: [] },
  });
});

test('[LC14] reports that hints may be lost if the directory of cookies was exchanged, and works again after that', async () => {
  await untilFlushed(subject.folder);
  const cookies = inFolder('.lockstep/cookies');
  renameSync(cookies, join(outside, 'cookies'));
  expect(await subject.folder.flushHints()).toBe(false);
  await untilFlushed(subject.folder);
  renameSync(cookies, join(outside, 'more cookies'));
  mkdirSync(cookies);
  // The watch still belongs to the directory that was moved away.
  expect(await subject.folder.flushHints()).toBe(false);
  await untilFlushed(subject.folder);
});

test('[LC14] a flush before the folder is watched reports that hints may be lost', async () => {
  const unwatched = await openDiskSubject();
  expect(await unwatched.folder.flushHints()).toBe(false);
  await unwatched.close();
});
