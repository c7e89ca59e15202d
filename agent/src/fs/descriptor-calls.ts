import * as fs from 'node:fs';
import { copyFileSync } from '../os/copy-file.ts';
import { isOneInode } from './entry-stat.ts';
import type { SystemCalls } from './system-calls.ts';

/** The calls that need a descriptor to follow no link. */
type DescriptorCalls = Pick<SystemCalls, 'openDirectory' | 'chmod' | 'copyFile'>;

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;

/** Opens a name without access to its content. Node does not export it; the number is the same on all its platforms. */
export const O_PATH = 0o10_000_000;

/** The calls of Linux with /proc, or those that every system has. */
export function descriptorCalls(): DescriptorCalls {
  return isReachedByDescriptor() ? byDescriptor : byPath;
}

const byDescriptor: DescriptorCalls = {
  openDirectory: (path) => {
    const fd = fs.openSync(path, O_PATH | O_DIRECTORY | O_NOFOLLOW);
    try {
      return { path: `${pathOf(fd)}/.`, stats: fs.fstatSync(fd), close: () => fs.closeSync(fd) };
    } catch (error) {
      fs.closeSync(fd);
      throw error;
    }
  },
  chmod: (path, mode) =>
    withDescriptor(path, O_PATH, (fd) => {
      if (fs.fstatSync(fd).isSymbolicLink()) throw Object.assign(new Error(`${path} is a link`), { code: 'ELOOP' });
      fs.chmodSync(pathOf(fd), mode);
    }),
  copyFile: (from, to) =>
    withDescriptor(from, O_RDONLY | O_NONBLOCK, (fd) => copyFileSync({ fd, path: pathOf(fd) }, to)),
};

const byPath: DescriptorCalls = {
  openDirectory: (path) => {
    const stats = fs.lstatSync(path);
    if (!stats.isDirectory()) throw Object.assign(new Error(`${path} is no directory`), { code: 'ENOTDIR' });
    return { path, stats, close: () => undefined };
  },
  chmod: fs.chmodSync,
  copyFile: (from, to) => withDescriptor(from, O_RDONLY, (fd) => copyFileSync({ fd, path: from }, to)),
};

function pathOf(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function withDescriptor(path: string, flags: number, body: (fd: number) => void): void {
  const fd = fs.openSync(path, flags | O_NOFOLLOW);
  try {
    body(fd);
  } finally {
    fs.closeSync(fd);
  }
}

/** False outside Linux, and if /proc is not mounted or belongs to another process namespace. */
function isReachedByDescriptor(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const directory = byDescriptor.openDirectory('/');
    try {
      return isOneInode(fs.lstatSync(directory.path), directory.stats);
    } finally {
      directory.close();
    }
  } catch {
    return false;
  }
}
