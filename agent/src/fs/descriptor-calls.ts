import * as fs from 'node:fs';
import type { SystemCalls } from './system-calls.ts';

/** Those calls of which only descriptors make sure that they follow no link. */
type DescriptorCalls = Pick<SystemCalls, 'openDirectory' | 'chmod' | 'copyFile'>;

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = fs.constants;

/** Opens a name rather than what is in it, also without the right to read. Node does not list it; this is its number on all machines that Node runs on. */
const O_PATH = 0o10_000_000;

const copyFlags = fs.constants.COPYFILE_FICLONE | fs.constants.COPYFILE_EXCL;

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
    withDescriptor(from, O_RDONLY | O_NONBLOCK, (fd) => fs.copyFileSync(pathOf(fd), to, copyFlags)),
};

const byPath: DescriptorCalls = {
  openDirectory: (path) => {
    const stats = fs.lstatSync(path);
    if (!stats.isDirectory()) throw Object.assign(new Error(`${path} is no directory`), { code: 'ENOTDIR' });
    return { path, stats, close: () => undefined };
  },
  chmod: fs.chmodSync,
  copyFile: (from, to) => fs.copyFileSync(from, to, copyFlags),
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

/** False outside Linux, and where no /proc is mounted or it is that of other processes. */
function isReachedByDescriptor(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    const directory = byDescriptor.openDirectory('/');
    try {
      const { dev, ino } = fs.lstatSync(directory.path);
      return dev === directory.stats.dev && ino === directory.stats.ino;
    } finally {
      directory.close();
    }
  } catch {
    return false;
  }
}
