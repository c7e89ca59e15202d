import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type DiskSubject, openDiskSubject } from './disk-subject.contract.ts';
import { fingerprintOf } from './entry-stat.ts';
import { bytesOf, observeOne, scanAll, tryOne, writeRequest } from './folder-subject.contract.ts';
import { nodeSystemCalls } from './node-system-calls.ts';
import { foldsCase } from './open-folder.ts';

const isRoot = process.getuid?.() === 0;

let subject: DiskSubject | undefined;
const mounts: string[] = [];
afterEach(async () => {
  for (const mount of mounts.splice(0)) execFileSync('umount', [mount]);
  await subject?.close();
  subject = undefined;
});

/** Calls `run`, and returns whether it succeeded. */
function can(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}

function mountOver(source: string, target: string): void {
  execFileSync('mount', ['--bind', source, target], { stdio: 'pipe' });
  mounts.push(target);
}

const canBind =
  isRoot &&
  can(() => {
    const place = mkdtempSync(join(tmpdir(), 'lockstep-bind-'));
    try {
      execFileSync('mount', ['--bind', place, place], { stdio: 'pipe' });
      execFileSync('umount', [place]);
    } finally {
      rmSync(place, { recursive: true });
    }
  });

describe.skipIf(!canBind)('[WT8] no path under any name leads into the state directory (root, mounts)', () => {
  test.each(['.LOCKSTEP', 'other'])('by the name %s', async (name) => {
    subject = await openDiskSubject();
    const { root, folder } = subject;
    const key = join(root, '.lockstep/identity.key');
    writeFileSync(key, 'secret');
    mkdirSync(join(root, name));
    mountOver(join(root, '.lockstep'), join(root, name));
    expect(foldsCase(nodeSystemCalls(), join(root, '.lockstep'))).toBe(false);
    const path = `${name}/identity.key`;
    expect(readFileSync(join(root, path), 'utf8')).toBe('secret');
    // Under the other name, the mount is not part of the folder.
    for (const one of [path, name]) expect(['absent', 'problem']).toContain((await observeOne(subject, one)).state);
    const [top] = await scanAll(subject);
    expect(top).toMatchObject({ entries: [], skipped: [{ name, code: 'path-reserved' }] });
    const written = await tryOne(subject, writeRequest(subject, path, 'mine', fingerprintOf(lstatSync(key))));
    expect(written.result).not.toBe('done');
    expect((await tryOne(subject, writeRequest(subject, `${name}/new`, 'mine'))).result).not.toBe('done');
    expect((await folder.apply([{ action: { do: 'rmdir', path: name } }]))[0]?.result).not.toBe('done');
    const { content, size } = { content: subject.identify(bytesOf('secret')).content, size: 6 };
    const source = { from: 'file', path, fingerprint: fingerprintOf(lstatSync(key)) } as const;
    expect(await folder.readBlock({ content, size, index: 0, source })).toBeUndefined();
    expect(readFileSync(key, 'utf8')).toBe('secret');
    expect(readdirSync(join(root, '.lockstep'))).not.toContain('new');
  });
});

test('[WT9] a file system that gives each spelling of a name an inode number of its own folds case too', async () => {
  subject = await openDiskSubject();
  const state = join(subject.root, '.lockstep');
  const system = nodeSystemCalls();
  expect(foldsCase(system, state)).toBe(false);
  // As high-level FUSE file systems do, which number paths.
  const lstat = (path: string) => {
    const stats = system.lstat(path.toLowerCase() === state.toLowerCase() ? state : path);
    return stats && Object.assign(stats, { ino: path === state ? 1 : 2 });
  };
  expect(foldsCase({ ...system, lstat }, state)).toBe(true);
});

/** A directory in which `a` and `A` are the same name, on a loop device. Undefined if this system has none. */
function foldingDirectory(): { readonly path: string; remove(): void } | undefined {
  if (!isRoot) return undefined;
  const place = mkdtempSync(join(tmpdir(), 'lockstep-fold-'));
  const image = join(place, 'image');
  const mounted = join(place, 'mounted');
  mkdirSync(mounted);
  const run = (command: string, ...args: string[]): void => void execFileSync(command, args, { stdio: 'pipe' });
  const remove = (): void => {
    can(() => run('umount', mounted));
    rmSync(place, { recursive: true, force: true });
  };
  const made = can(() => {
    run('truncate', '-s', '64M', image);
    run('mkfs.ext4', '-q', '-O', 'casefold', '-E', 'encoding=utf8', image);
    run('mount', '-o', 'loop', image, mounted);
    mkdirSync(join(mounted, 'd'));
    run('chattr', '+F', join(mounted, 'd'));
  });
  if (made) return { path: join(mounted, 'd'), remove };
  remove();
  return undefined;
}

const folding = foldingDirectory();

describe.skipIf(folding === undefined)(
  '[WT9] a file system that folds case (root, ext4 with casefold in the kernel)',
  () => {
    const open = async (): Promise<DiskSubject> => {
      subject = await openDiskSubject({}, folding?.path);
      return subject;
    };
    afterEach(() => folding?.remove());

    test('one of two names that differ in case is shown, the other is a problem, and neither is lost', async () => {
      const one = await open();
      writeFileSync(join(one.root, 'a'), 'small');
      expect(await observeOne(one, 'A')).toEqual({ path: 'A', state: 'absent' });
      expect(await tryOne(one, writeRequest(one, 'A', 'large'))).toMatchObject({
        result: 'problem',
        code: 'path-in-the-way',
      });
      expect(readFileSync(join(one.root, 'a'), 'utf8')).toBe('small');
      const key = join(one.root, '.lockstep/identity.key');
      writeFileSync(key, 'secret');
      expect(await observeOne(one, '.LOCKSTEP/identity.key')).toMatchObject({ state: 'absent' });
      const [top] = await scanAll(one);
      expect(top?.entries.map(({ name }) => name)).toEqual(['a']);
    });
  },
);
