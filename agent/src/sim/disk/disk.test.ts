import { describe, expect, test } from 'vitest';
import { contentOfText } from './content.ts';
import { Disk } from './disk.ts';
import type { DiskErrorCode } from './disk-error.ts';
import { fingerprintOf } from './inode.ts';

/** A disk with a file, a directory with a file in it, an empty directory and a link. Its clock is set by hand. */
function filled() {
  const clock = { nowMs: 1_000 };
  const disk = new Disk({ wallMs: () => clock.nowMs });
  disk.write('file', contentOfText('1'));
  disk.mkdir('full');
  disk.write('full/file', contentOfText('2'));
  disk.mkdir('empty');
  disk.symlink('link', 'full');
  return { disk, clock };
}

describe('Disk', () => {
  const refusals: [what: string, call: (disk: Disk) => void, code: DiskErrorCode][] = [
    ['a write without a parent', (disk) => disk.write('no/file', contentOfText('x')), 'ENOENT'],
    ['a write below a file', (disk) => disk.write('file/x', contentOfText('x')), 'ENOTDIR'],
    ['a write below a link', (disk) => disk.write('link/x', contentOfText('x')), 'ENOTDIR'],
    ['a write to a directory', (disk) => disk.write('full', contentOfText('x')), 'EISDIR'],
    ['mkdir of an existing entry', (disk) => disk.mkdir('file'), 'EEXIST'],
    ['rmdir of a directory that is not empty', (disk) => disk.rmdir('full'), 'ENOTEMPTY'],
    ['rmdir of a file', (disk) => disk.rmdir('file'), 'ENOTDIR'],
    ['unlink of a directory', (disk) => disk.unlink('empty'), 'EISDIR'],
    ['a rename of a missing entry', (disk) => disk.rename('nothing', 'x'), 'ENOENT'],
    ['a rename of a file over a directory', (disk) => disk.rename('file', 'empty'), 'EISDIR'],
    ['a rename of a directory over a file', (disk) => disk.rename('empty', 'file'), 'ENOTDIR'],
    ['a rename over a directory that is not empty', (disk) => disk.rename('empty', 'full'), 'ENOTEMPTY'],
    ['a rename into itself', (disk) => disk.rename('full', 'full/x'), 'EINVAL'],
  ];
  test.each(refusals)('refuses %s', (_, call, code) => {
    const { disk } = filled();
    const before = [...disk.entries()].map(([path]) => path);
    expect(() => call(disk)).toThrow(code);
    expect([...disk.entries()].map(([path]) => path)).toEqual(before);
  });

  test('a rename moves the tree, keeps inodes and replaces the target', () => {
    const { disk } = filled();
    const inode = disk.at('full/file');
    disk.rename('full', 'empty');
    expect(disk.at('empty/file')).toBe(inode);
    expect(disk.at('full')).toBeUndefined();
    disk.rename('file', 'link');
    expect(disk.at('link')?.type).toBe('file');
  });

  test('it knows that unsynced bytes are those that the disk has', () => {
    const { disk } = filled();
    const file = disk.write('new', contentOfText('a'));
    expect(disk.cache.isOnlyRewritten(file), 'the disk does not have it').toBe(false);
    disk.cache.sync();
    expect(disk.cache.isOnlyRewritten(file), 'it is synced').toBe(false);
    disk.write('new', contentOfText('a'));
    expect(disk.cache.isOnlyRewritten(file)).toBe(true);
    disk.write('new', contentOfText('b'));
    expect(disk.cache.isOnlyRewritten(file)).toBe(false);
  });

  test('times advance in steps: a second write within one leaves the same fingerprint', () => {
    const { disk, clock } = filled();
    const written = fingerprintOf(disk.write('file', contentOfText('a')));
    clock.nowMs += 3;
    expect(fingerprintOf(disk.write('file', contentOfText('b')))).toEqual(written);
    clock.nowMs += 1;
    expect(fingerprintOf(disk.write('file', contentOfText('c')))).not.toEqual(written);
  });

  test('the number of a removed inode is reused, unless history still has the inode', () => {
    const { disk } = filled();
    const { number } = disk.write('file', contentOfText('x'));
    disk.unlink('file');
    expect(disk.mkdir('new').number).toBe(number);
    const kept = disk.write('file', contentOfText('y'));
    disk.link('file', '/elsewhere/file');
    disk.unlink('file');
    expect(disk.mkdir('newer').number).not.toBe(kept.number);
  });

  test('reports each change that a watch on the directory would report', () => {
    const { disk } = filled();
    const heard: string[] = [];
    const stop = disk.listen((directory, name) => heard.push(`${directory === disk.root ? '/' : 'below'} ${name}`));
    disk.write('file', contentOfText('x'));
    disk.rename('file', 'full/moved');
    disk.chmod('full', 0o700);
    stop();
    disk.unlink('full/moved');
    expect(heard).toEqual(['/ file', '/ file', 'below moved', 'below undefined', '/ full']);
  });
});
