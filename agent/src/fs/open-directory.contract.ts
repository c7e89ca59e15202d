import { expect, test } from 'vitest';
import { errorCodeOf } from '../os/system-error.ts';
import type { SystemCalls } from './system-calls.ts';

/** The calls under test, and an empty directory. */
interface CallsSubject {
  readonly calls: SystemCalls;
  readonly root: string;
}

function codeOf(act: () => unknown): string | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return errorCodeOf(error);
  }
}

/** The contract of `openDirectory` on Linux, on a disk or in memory. */
export function openDirectoryContract(open: () => CallsSubject): void {
  test('[MT8] an open directory stays the same when its name is taken', () => {
    const { calls, root } = open();
    calls.mkdir(`${root}/d`, 0o700);
    calls.mkdir(`${root}/other`, 0o700);
    const opened = calls.openDirectory(`${root}/d`);
    try {
      calls.rename(`${root}/d`, `${root}/moved`);
      calls.symlink(`${root}/other`, `${root}/d`);
      calls.mkdir(`${opened.path}/made`, 0o700);
      expect(calls.lstat(opened.path)?.ino).toBe(opened.stats.ino);
      expect(calls.readdir(opened.path)).toEqual(['made']);
      expect(calls.readdir(`${root}/other`)).toEqual([]);
      expect(calls.lstat(`${root}/moved/made`)?.isDirectory()).toBe(true);
    } finally {
      opened.close();
    }
  });

  test('[MT8] a textual path follows a link, and an open directory does not', () => {
    const { calls, root } = open();
    calls.mkdir(`${root}/there`, 0o700);
    calls.mkdir(`${root}/there/below`, 0o700);
    calls.symlink('there', `${root}/link`);
    expect(calls.lstat(`${root}/link/below`)?.isDirectory()).toBe(true);
    expect(codeOf(() => calls.openDirectory(`${root}/link`))).toBe('ENOTDIR');
    expect(codeOf(() => calls.openDirectory(`${root}/absent`))).toBe('ENOENT');
    // The folder itself may be reached through a link.
    const opened = calls.openDirectory(`${root}/link/.`);
    expect(opened.stats.ino).toBe(calls.lstat(`${root}/there`)?.ino);
    opened.close();
  });

  test('a removed directory has no entries and gets none', () => {
    const { calls, root } = open();
    calls.mkdir(`${root}/gone`, 0o700);
    const opened = calls.openDirectory(`${root}/gone`);
    calls.rmdir(`${root}/gone`);
    expect(calls.lstat(`${opened.path}/entry`)).toBeUndefined();
    expect(codeOf(() => calls.mkdir(`${opened.path}/entry`, 0o700))).toBe('ENOENT');
    opened.close();
  });
}
