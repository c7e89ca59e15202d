import { constants } from 'node:fs';
import { errorCodeOf } from '../os/system-error.ts';
import { isOneInode, lstatIfThere } from './entry-stat.ts';
import { removeIfThere } from './remove.ts';
import type { SystemCalls } from './system-calls.ts';

const sample = Uint8Array.of(0);

/**
 * False if a second name of a file does not show the same file: some FUSE programs give each name an inode number of its own (mergerfs), or
 * both names another size for a moment (gocryptfs). Then every file that is to be replaced would look like one that was changed meanwhile.
 * True also where link(2) is refused: each call says that itself.
 */
export function hasUsableLinks(system: SystemCalls, temporaryPath: () => string): boolean {
  const [file, name] = [temporaryPath(), temporaryPath()];
  try {
    const fd = system.open(file, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      system.write(fd, sample, 0, sample.length, 0);
    } finally {
      system.close(fd);
    }
    system.link(file, name);
    const [first, second] = [lstatIfThere(system, file), lstatIfThere(system, name)];
    return isOneInode(first, second) && first?.size === sample.length && second?.size === sample.length;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return true;
  } finally {
    removeOrLeave(system, file);
    removeOrLeave(system, name);
  }
}

/** The same calls on a file system that refuses link(2). */
export function withoutLinks(system: SystemCalls): SystemCalls {
  const link = (): never => {
    throw Object.assign(new Error('second names do not show the same file here'), { code: 'EPERM', syscall: 'link' });
  };
  return { ...system, link };
}

/** The next start removes what stays in staging. */
function removeOrLeave(system: SystemCalls, path: string): void {
  try {
    removeIfThere(system, path);
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
  }
}
