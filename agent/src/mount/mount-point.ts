import { existsSync, mkdirSync } from 'node:fs';
import { mkdir, readdir, readFile, realpath, rm, stat } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import { LockstepError, stateDirectoryName } from '@lockstep/shared';
import { shellWord } from '../os/shell-word.ts';
import { unmount } from './fuse/fuse-mount.ts';

/** The type that the kernel's list shows for a mount of Lockstep. */
const mountType = 'fuse.lockstep';

function refused(message: string): LockstepError {
  return new LockstepError('mount-unavailable', message);
}

/** The mount points of Lockstep in the kernel's list. */
async function lockstepMounts(): Promise<ReadonlySet<string>> {
  const table = await readFile('/proc/self/mounts', 'utf8').catch(() => '');
  const plain = (text: string): string =>
    text.replace(/\\([0-7]{3})/g, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
  const points = table.split('\n').flatMap((line) => {
    const [, point = '', type] = line.split(' ');
    return type === mountType ? [plain(point)] : [];
  });
  return new Set(points);
}

/** True if Lockstep is mounted at `mountPoint`. */
export async function isMounted(mountPoint: string): Promise<boolean> {
  return (await lockstepMounts()).has(mountPoint);
}

/** The kernel's answers for a mount whose process has ended. */
const deadCodes: ReadonlySet<unknown> = new Set(['ENOTCONN', 'ECONNABORTED']);

/**
 * The real path of a directory at which the folder `directory` may be mounted: empty, outside the folder, and not in use. A mount whose
 * process was killed is removed first. Throws 'mount-unavailable' with what to do.
 */
export async function checkedMountPoint(mountPoint: string, directory: string): Promise<string> {
  try {
    await stat(mountPoint);
  } catch (error) {
    if (deadCodes.has((error as NodeJS.ErrnoException).code)) await unmount(mountPoint);
  }
  const real = await realpath(mountPoint).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ENOENT') throw refused(`${mountPoint} cannot be opened (${cause.code}).`);
    throw refused(`${mountPoint} does not exist. Make it: mkdir -p ${shellWord(mountPoint)}`);
  });
  if (!(await stat(real)).isDirectory()) throw refused(`${real} is not a directory. Name an empty directory.`);
  if (await isMounted(real)) {
    throw refused(`Lockstep is mounted at ${real} already. Unmount it first: fusermount3 -u ${shellWord(real)}`);
  }
  if (real === directory || real.startsWith(directory + sep)) {
    throw refused(`${real} lies inside the folder ${directory}. Choose a directory outside it.`);
  }
  if (directory.startsWith(real + sep)) {
    throw refused(`${real} contains the folder ${directory}, which the mount would hide. Choose an empty directory.`);
  }
  const [first] = await readdir(real).catch((cause: NodeJS.ErrnoException) => {
    throw refused(`${real} cannot be read (${cause.code}). Choose a directory of your own.`);
  });
  if (first !== undefined) {
    throw refused(`${real} is not empty: it has ${first}. Choose an empty directory.`);
  }
  return real;
}

/** A directory for the drafts of this process. Those of processes that have ended are removed. */
export async function draftDirectory(directory: string): Promise<string> {
  const all = join(directory, stateDirectoryName, 'mount');
  await mkdir(all, { recursive: true, mode: 0o700 });
  for (const name of await readdir(all)) {
    if (!runs(Number(name))) await rm(join(all, name), { recursive: true, force: true });
  }
  const own = join(all, String(process.pid));
  await rm(own, { recursive: true, force: true });
  await mkdir(own, { mode: 0o700 });
  return own;
}

function runs(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Makes the directory of drafts again if a person removed it. Nothing is made where the state directory is gone: its disk may be missing. */
export function remakeDrafts(own: string): void {
  if (existsSync(own)) return;
  const all = dirname(own);
  if (!existsSync(all)) mkdirSync(all, { mode: 0o700 });
  mkdirSync(own, { mode: 0o700 });
}
