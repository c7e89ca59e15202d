import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { lstat, mkdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../sync/ports/log.ts';
import type { FolderSubject, FolderUser, FoundEntry } from './folder-subject.contract.ts';
import { type OpenFolderOptions, openFolder } from './open-folder.ts';
import { hashBytes } from './read/content-id.ts';

/** A log without output. */
export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface DiskSubject extends FolderSubject {
  readonly root: string;
  /** Opens the folder again, as a restarted agent does. */
  reopen(options?: Partial<OpenFolderOptions>): Promise<FolderSubject['folder'] & AsyncDisposable>;
}

/** A folder in a new temporary directory (or below `parent`), which is removed when the subject is closed. */
export async function openDiskSubject(
  options: Partial<OpenFolderOptions> = {},
  parent = tmpdir(),
): Promise<DiskSubject> {
  const root = mkdtempSync(join(parent, 'lockstep-folder-'));
  const stateDirectory = join(root, '.lockstep');
  mkdirSync(stateDirectory);
  const reopen = (more: Partial<OpenFolderOptions> = {}) =>
    openFolder({ root, stateDirectory, memberName: 'ant', log: silentLog, ...more });
  const folder = await reopen(options);
  const close = async (): Promise<void> => {
    await folder.close();
    rmSync(root, { recursive: true, force: true });
  };
  return {
    folder,
    root,
    user: userOf(root),
    identify: (bytes) => hashBytes(bytes),
    tick: () => setTimeout(10),
    reopen,
    close,
  };
}

function userOf(root: string): FolderUser {
  return {
    write: (path, bytes) => writeFile(join(root, path), bytes),
    mkdir: (path) => mkdir(join(root, path)),
    symlink: (path, target) => symlink(target, join(root, path)),
    rename: (from, to) => rename(join(root, from), join(root, to)),
    remove: (path) => rm(join(root, path), { recursive: true }),
    look: (path) => look(join(root, path)),
  };
}

async function look(absolute: string): Promise<FoundEntry | undefined> {
  const stats = await lstat(absolute, { bigint: true }).catch(() => undefined);
  if (stats === undefined) return undefined;
  const common = { mode: Number(stats.mode & 0o7777n), mtimeUs: Number(stats.mtimeNs / 1000n) };
  if (stats.isSymbolicLink()) return { type: 'symlink', target: await readlink(absolute), ...common };
  if (stats.isDirectory()) return { type: 'directory', ...common };
  return { type: 'file', bytes: new Uint8Array(await readFile(absolute)), ...common };
}
