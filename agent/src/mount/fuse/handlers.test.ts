import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { eventually } from '../../../../testkit/eventually.ts';
import { errorOf, MountedFolder } from '../_mounted.ts';

let mounted: MountedFolder;
beforeEach(() => {
  mounted = new MountedFolder();
});
afterEach(() => mounted.remove());

const truncated = 0o1000;
const appending = 0o2000;

describe('[FM2] a file is published as one version', () => {
  test('a new file is in the folder when it is closed, and in the mount at once', async () => {
    const { handlers } = mounted;
    const handle = await handlers.create('/a', 0o100640);
    await mounted.write(handle, 'one');
    expect(readdirSync(mounted.folder)).toEqual(['.lockstep']);
    expect((await handlers.readdir('/')).names).toEqual(['.', '..', 'a']);
    expect(handlers.getattr('/a')).toMatchObject({ size: 3, mode: 0o100640 });
    await handlers.flush(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('one');
    expect(statSync(mounted.at('a')).mode & 0o777).toBe(0o640);
    await handlers.release(handle);
    expect(readdirSync(mounted.drafts)).toEqual([]);
  });

  test('an existing file keeps its version until it is closed, and its mode', async () => {
    writeFileSync(mounted.at('a'), 'before', { mode: 0o755 });
    chmodSync(mounted.at('a'), 0o755);
    const handle = await mounted.handlers.open('/a', 0);
    await mounted.write(handle, 'XX', 2);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('before');
    expect(await mounted.read(handle)).toBe('beXXre');
    await mounted.close(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('beXXre');
    expect(statSync(mounted.at('a')).mode & 0o777).toBe(0o755);
  });

  test('a file that is opened with O_TRUNC has no empty version first', async () => {
    writeFileSync(mounted.at('a'), 'before');
    const handle = await mounted.handlers.open('/a', truncated);
    expect((await mounted.handlers.getattr('/a')).size).toBe(0);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('before');
    await mounted.write(handle, 'new');
    await mounted.close(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('new');
  });

  test('fsync publishes, and what is written afterwards is the next version', async () => {
    const handle = await mounted.handlers.create('/a', 0o644);
    await mounted.write(handle, 'one');
    await mounted.handlers.fsync(handle);
    const first = statSync(mounted.at('a')).ino;
    await mounted.write(handle, 'two');
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('one');
    await mounted.close(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('two');
    expect(statSync(mounted.at('a')).ino).not.toBe(first);
  });

  test('a shell that closes its first descriptor of a new file publishes no empty version', async () => {
    const handle = await mounted.handlers.create('/a', 0o644);
    await mounted.handlers.flush(handle);
    expect(readdirSync(mounted.folder)).toEqual(['.lockstep']);
    await mounted.handlers.release(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('');
  });

  test('truncate by path is one version at once, also while a program has the file open', async () => {
    writeFileSync(mounted.at('a'), 'abcdef');
    const handle = await mounted.handlers.open('/a', 0);
    await mounted.handlers.truncate('/a', 3);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('abc');
    await mounted.handlers.ftruncate(handle, 2);
    await mounted.handlers.truncate('/a', 1);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('abc');
    await mounted.close(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('a');
  });

  test('truncate by path is one version', async () => {
    writeFileSync(mounted.at('a'), 'before');
    await mounted.handlers.truncate('/a', 3);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('bef');
    await mounted.handlers.truncate('/a', 5);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('bef\0\0');
  });

  test('steps of two programs on one file are done one after the other', async () => {
    const large = Buffer.alloc(8 * 1_048_576, 1);
    writeFileSync(mounted.at('a'), large);
    const [one, other] = [await mounted.handlers.open('/a', 0), await mounted.handlers.open('/a', 0)];
    await Promise.all([mounted.write(one, 'x', 0), mounted.write(other, 'y', 1), mounted.handlers.fsync(one)]);
    expect(await mounted.read(other, 0, 2)).toBe('xy');
    await Promise.all([mounted.close(one), mounted.close(other)]);
    expect(readFileSync(mounted.at('a')).subarray(0, 2).toString()).toBe('xy');
    expect(mounted.conflicts).toEqual([]);
  });
});

describe('[FM3] another version that came meanwhile', () => {
  const copies = () => readdirSync(mounted.folder).filter((name) => name.includes('.conflict-'));

  test('stays, and the session’s version is a conflict copy', async () => {
    writeFileSync(mounted.at('a.txt'), 'before');
    const handle = await mounted.handlers.open('/a.txt', 0);
    await mounted.write(handle, 'mine');
    writeFileSync(mounted.at('new'), 'theirs, applied by the agent');
    renameSync(mounted.at('new'), mounted.at('a.txt'));
    await mounted.handlers.flush(handle);
    expect(readFileSync(mounted.at('a.txt'), 'utf8')).toBe('theirs, applied by the agent');
    expect(copies()).toEqual([expect.stringMatching(/^a\.conflict-.*-ant\.txt$/)]);
    expect(readFileSync(mounted.at(copies()[0] ?? ''), 'utf8')).toBe('minere');
    expect(mounted.conflicts).toEqual([{ path: 'a.txt', copy: copies()[0] }]);
    // Later writes go to the copy, and the path is the other version for all that open it.
    await mounted.write(handle, 'more');
    const other = await mounted.handlers.open('/a.txt', 0);
    expect(await mounted.read(other)).toBe('theirs, applied by the agent');
    await mounted.close(other);
    await mounted.close(handle);
    expect(readFileSync(mounted.at(copies()[0] ?? ''), 'utf8')).toBe('morere');
    expect(copies()).toHaveLength(1);
  });

  test('a new name that another member took is a conflict as well', async () => {
    const handle = await mounted.handlers.create('/a', 0o644);
    await mounted.write(handle, 'mine');
    writeFileSync(mounted.at('a'), 'theirs');
    await mounted.close(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('theirs');
    expect(copies()).toHaveLength(1);
  });

  test('a file that was deleted meanwhile is a conflict copy, and a directory that was deleted is made again', async () => {
    mkdirSync(mounted.at('d'));
    const handle = await mounted.handlers.create('/d/a', 0o644);
    await mounted.write(handle, 'mine');
    rmSync(mounted.at('d'), { recursive: true });
    await mounted.close(handle);
    expect(readFileSync(mounted.at('d/a'), 'utf8')).toBe('mine');
  });

  test('a reader keeps the version that it opened, and the next one gets the new one', async () => {
    writeFileSync(mounted.at('a'), 'first');
    const reader = await mounted.handlers.open('/a', 0);
    writeFileSync(mounted.at('new'), 'second!');
    renameSync(mounted.at('new'), mounted.at('a'));
    expect(await mounted.read(reader)).toBe('first');
    await mounted.close(reader);
    const next = await mounted.handlers.open('/a', 0);
    expect(await mounted.read(next)).toBe('second!');
    await mounted.close(next);
  });
});

describe('[FM6] a program that appends', () => {
  test.each([
    ['longer', 'another version\n', 4],
    ['shorter', 'v\n', 8],
  ])('writes to the end of a version that became %s since the kernel asked', async (_, text, endBefore) => {
    writeFileSync(mounted.at('a'), text);
    const handle = await mounted.handlers.open('/a', appending);
    await mounted.write(handle, 'one\n', endBefore);
    await mounted.write(handle, 'two\n', endBefore + 4);
    await mounted.close(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe(`${text}one\ntwo\n`);
  });
});

describe('[FM4] names', () => {
  test('rename replaces a file, and what is open keeps its session', async () => {
    writeFileSync(mounted.at('a'), 'old');
    const handle = await mounted.handlers.create('/a.tmp', 0o644);
    await mounted.write(handle, 'new');
    await mounted.handlers.rename('/a.tmp', '/a');
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('new');
    await mounted.write(handle, 'NEW');
    await mounted.close(handle);
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('NEW');
    expect(readdirSync(mounted.folder).sort()).toEqual(['.lockstep', 'a']);
  });

  test('a directory is renamed with the files that are open in it', async () => {
    await mounted.handlers.mkdir('/d', 0o40755);
    const handle = await mounted.handlers.create('/d/a', 0o644);
    await mounted.write(handle, 'one');
    await mounted.handlers.rename('/d', '/e');
    await mounted.write(handle, 'two');
    await mounted.close(handle);
    expect(readFileSync(mounted.at('e/a'), 'utf8')).toBe('two');
  });

  test.each([false, true])('a file that is removed while it is open keeps its bytes; new: %s', async (isNew) => {
    const hidden = '/.fuse_hidden0000000100000002';
    if (!isNew) writeFileSync(mounted.at('a'), 'bytes');
    const handle = isNew ? await mounted.handlers.create('/a', 0o644) : await mounted.handlers.open('/a', 0);
    if (isNew) await mounted.write(handle, 'bytes');
    await mounted.handlers.rename('/a', hidden);
    expect(await errorOf(() => mounted.handlers.getattr('/a'))).toBe('ENOENT');
    expect(readdirSync(mounted.folder)).toEqual(['.lockstep']);
    expect((await mounted.handlers.getattr(hidden)).size).toBe(5);
    await mounted.write(handle, 'B');
    expect(await mounted.read(handle)).toBe('Bytes');
    await mounted.handlers.flush(handle);
    await mounted.handlers.release(handle);
    expect(readdirSync(mounted.folder)).toEqual(['.lockstep']);
    expect(readdirSync(mounted.drafts)).toEqual([]);
  });

  test('a file that is replaced while it is open is in the folder all the time, also if the rename fails', async () => {
    for (const name of ['a', 'a.tmp']) writeFileSync(mounted.at(name), name);
    const handle = await mounted.handlers.open('/a', 0);
    await mounted.handlers.rename('/a', '/.fuse_hidden0000000100000002');
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('a');
    expect(await errorOf(() => mounted.handlers.rename('/gone', '/a'))).toBe('ENOENT');
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('a');
    await mounted.handlers.rename('/a.tmp', '/a');
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('a.tmp');
    expect(await mounted.read(handle)).toBe('a');
    await mounted.close(handle);
    expect(readdirSync(mounted.folder)).toEqual(['.lockstep', 'a']);
  });

  test('a file that is removed while it is open is removed without another request', async () => {
    writeFileSync(mounted.at('a'), 'bytes');
    await mounted.handlers.open('/a', 0);
    await mounted.handlers.rename('/a', '/.fuse_hidden0000000100000002');
    await eventually(() => expect(readdirSync(mounted.folder)).toEqual(['.lockstep']));
  });

  test.each([false, true])(
    'a directory stays while a program has a file of it open; removed: %s',
    async (isRemoved) => {
      await mounted.handlers.mkdir('/d', 0o40755);
      await mounted.handlers.mkdir('/e', 0o40755);
      const handle = await mounted.handlers.create('/d/a', 0o644);
      await mounted.write(handle, 'bytes');
      if (isRemoved) await mounted.handlers.rename('/d/a', '/d/.fuse_hidden0000000100000002');
      expect(await errorOf(() => mounted.handlers.rmdir('/d'))).toBe('ENOTEMPTY');
      expect(await errorOf(() => mounted.handlers.rename('/e', '/d'))).toBe('ENOTEMPTY');
      await mounted.close(handle);
      if (!isRemoved) await mounted.handlers.unlink('/d/a');
      await mounted.handlers.rename('/e', '/d');
      await mounted.handlers.rmdir('/d');
      expect(readdirSync(mounted.folder)).toEqual(['.lockstep']);
    },
  );

  test('a person may use such a name for a file', async () => {
    writeFileSync(mounted.at('a'), 'bytes');
    await mounted.handlers.rename('/a', '/.fuse_hidden0000000100000002');
    expect(readdirSync(mounted.folder)).toContain('.fuse_hidden0000000100000002');
  });

  test('directories, links, modes and times', async () => {
    const { handlers } = mounted;
    await handlers.mkdir('/d', 0o40700);
    expect((await handlers.getattr('/d')).mode).toBe(0o40700);
    await handlers.symlink('d/a', '/l');
    expect(handlers.readlink('/l')).toBe('d/a');
    expect((await handlers.getattr('/l')).mode & 0o170000).toBe(0o120000);
    writeFileSync(mounted.at('d/a'), '');
    await handlers.chmod('/d/a', 0o100755);
    await handlers.utimens('/d/a', 1_000_000, 1_500_000_000_123);
    expect(handlers.getattr('/d/a')).toMatchObject({ mode: 0o100755, mtime: 1_500_000_000_123 });
    expect(await errorOf(() => handlers.rmdir('/d'))).toBe('ENOTEMPTY');
    await handlers.unlink('/d/a');
    await handlers.rmdir('/d');
    expect(await errorOf(() => handlers.getattr('/d'))).toBe('ENOENT');
    expect((await handlers.statfs()).blockBytes).toBeGreaterThan(0);
  });

  test.each([1_500_000_000_000, -86_400_000])(
    'mode and time (%d ms) of a draft are published with it',
    async (timeMs) => {
      const handle = await mounted.handlers.create('/a', 0o600);
      await mounted.write(handle, 'x');
      await mounted.handlers.chmod('/a', 0o755);
      await mounted.handlers.utimens('/a', 0, timeMs);
      await mounted.close(handle);
      const { mode, mtimeMs } = statSync(mounted.at('a'));
      expect([mode & 0o777, mtimeMs]).toEqual([0o755, timeMs]);
    },
  );
});

describe('[FM5] names that are not UTF-8, which the library makes alike', () => {
  const name = '/caf\ufffd';

  test.each<[string, () => unknown]>([
    ['create', () => mounted.handlers.create(name, 0o644)],
    ['mkdir', () => mounted.handlers.mkdir(name, 0o40755)],
    ['symlink', () => mounted.handlers.symlink('b', name)],
    ['rename', () => mounted.handlers.rename('/a', name)],
    ['open to write', () => mounted.handlers.open(name, 0o1)],
    ['open to truncate', () => mounted.handlers.open(name, truncated)],
    ['truncate', () => mounted.handlers.truncate(name, 0)],
    ['unlink', () => mounted.handlers.unlink(name)],
  ])('are neither made nor changed: %s', async (_, ask) => {
    writeFileSync(mounted.at('a'), 'of a');
    writeFileSync(mounted.at('caf\ufffd'), 'before');
    expect(await errorOf(ask)).toBe('EILSEQ');
    expect(readFileSync(mounted.at('caf\ufffd'), 'utf8')).toBe('before');
    expect(readFileSync(mounted.at('a'), 'utf8')).toBe('of a');
  });

  test('are read', async () => {
    writeFileSync(mounted.at('caf\ufffd'), 'before');
    expect(await mounted.read(await mounted.handlers.open(name, 0))).toBe('before');
  });
});

describe('[FM5] what is refused', () => {
  test.each([
    ['/.lockstep', 'ENOENT'],
    ['/.lockstep/cluster.key', 'ENOENT'],
    ['/.LOCKSTEP', 'ENOENT'],
    ['/d/.lockstep', 'ENOENT'],
    ['/absent', 'ENOENT'],
  ])('getattr %s: %s', async (path, expected) => {
    writeFileSync(mounted.at('.lockstep/cluster.key'), 'secret');
    expect(await errorOf(() => mounted.handlers.getattr(path))).toBe(expected);
    expect(await errorOf(() => mounted.handlers.open(path, 0))).toBe(expected);
  });

  test.each([
    ['/.lockstep', 'EACCES'],
    ['/.lockstep/x', 'EACCES'],
    ['/.Lockstep', 'EACCES'],
    ['/../x', 'EINVAL'],
    ['/d/../../x', 'EINVAL'],
    ['/a\0b', 'EINVAL'],
    [`/${'x'.repeat(300)}`, 'ENAMETOOLONG'],
    ['/', 'EBUSY'],
  ])('making %s: %s', async (path, expected) => {
    const { handlers } = mounted;
    writeFileSync(mounted.at('a'), '');
    for (const request of [
      () => handlers.mkdir(path, 0o755),
      () => handlers.create(path, 0o644),
      () => handlers.symlink('x', path),
      () => handlers.rename('/a', path),
      () => handlers.unlink(path),
      () => handlers.rmdir(path),
    ]) {
      expect(await errorOf(request)).toBe(expected);
    }
    expect(readdirSync(mounted.root)).toEqual(['folder']);
    expect(readdirSync(mounted.folder).sort()).toEqual(['.lockstep', 'a']);
  });

  test('the state directory is in no list', async () => {
    mkdirSync(join(mounted.folder, 'd/.lockstep'), { recursive: true });
    expect((await mounted.handlers.readdir('/')).names).toEqual(['.', '..', 'd']);
    expect((await mounted.handlers.readdir('/d')).names).toEqual(['.', '..']);
  });

  test('second names, devices, other owners and closed handles', async () => {
    const { handlers } = mounted;
    writeFileSync(mounted.at('a'), '');
    expect(await errorOf(() => handlers.link())).toBe('EPERM');
    expect(await errorOf(() => handlers.mknod('/p', 0o10644))).toBe('EPERM');
    expect(await errorOf(() => handlers.chown('/a', 12_345, 12_345))).toBe('EPERM');
    expect(await errorOf(() => handlers.chown('/a', 0xff_ff_ff_ff, process.getgid?.() ?? 0))).toBe(undefined);
    expect(await errorOf(() => handlers.read(99, Buffer.alloc(1), 0))).toBe('EBADF');
    await handlers.mknod('/f', 0o100644);
    expect(readFileSync(mounted.at('f'), 'utf8')).toBe('');
  });
});
