import {
  chmodSync,
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  type Stats,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { lutimes, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import { secondsOf } from '../../os/file-time.ts';
import { MountError } from '../errno.ts';
import type {
  Access,
  Draft,
  EntryKind,
  EntryStat,
  KeptVersion,
  NamedEntry,
  OpenVersion,
  Room,
  Soon,
} from '../ports/access.ts';
import { withOpenDirectory } from './closed-directory.ts';
import { StagedDraft, type Staging } from './staged-draft.ts';
import { fsyncOf, statOf, VersionFile } from './version-file.ts';

/**
 * The entries of a member that has the whole folder: those of the folder. A user of the mount changes the folder as any other program does,
 * and the agent journals that. Only file contents take a way of their own: they are staged, and get their path as a whole.
 */
export class FolderAccess implements Access {
  readonly #directory: string;
  readonly #staging: Staging;

  constructor(directory: string, staging: Staging) {
    this.#directory = directory;
    this.#staging = staging;
  }

  stat(path: string): EntryStat {
    return statOf(this.#lstat(path));
  }

  shown(stat: EntryStat): EntryStat {
    return stat;
  }

  list(directory: string): readonly NamedEntry[] {
    return readdirSync(this.#at(directory), { withFileTypes: true }).flatMap((entry) => {
      const kind = kindOf(entry);
      return kind === undefined ? [] : [{ name: entry.name, kind }];
    });
  }

  linkText(path: string): string {
    return readlinkSync(this.#at(path));
  }

  makeDirectory(path: string, mode: number): void {
    mkdirSync(this.#at(path), mode);
    // The kernel has applied the mask of the caller. The mask of this process must not be applied as well.
    chmodSync(this.#at(path), mode);
  }

  makeLink(path: string, target: string): void {
    symlinkSync(target, this.#at(path));
  }

  setMode(path: string, mode: number): void {
    if (this.#lstat(path).isSymbolicLink()) throw new MountError('EOPNOTSUPP');
    chmodSync(this.#at(path), mode);
  }

  setTimes(path: string, atimeMs: number, mtimeMs: number): Promise<void> {
    return lutimes(this.#at(path), secondsOf(atimeMs * 1_000), secondsOf(mtimeMs * 1_000));
  }

  rename(from: string, to: string): void {
    renameSync(this.#at(from), this.#at(to));
  }

  removeFile(path: string): void {
    unlinkSync(this.#at(path));
  }

  removeDirectory(path: string): void {
    rmdirSync(this.#at(path));
  }

  async syncDirectory(path: string): Promise<void> {
    const directory = this.#at(path);
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const fd = withOpenDirectory(directory, () => openSync(directory, flags));
    try {
      await fsyncOf(fd);
    } finally {
      closeSync(fd);
    }
  }

  open(path: string): OpenVersion {
    // O_NONBLOCK: a pipe that took the place of the file must not stop the mount.
    const fd = openSync(this.#at(path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const file = new VersionFile(fd);
    if (file.stat().kind === 'file') return file;
    closeSync(fd);
    throw new MountError('EISDIR');
  }

  isSame(_path: string, opened: OpenVersion, now: OpenVersion): boolean {
    return opened.version === now.version;
  }

  keep(_path: string, opened: OpenVersion): KeptVersion {
    return { opened, release: () => undefined };
  }

  draft(_path: string, from: OpenVersion | undefined, mode: number, beforeCopy?: () => Soon<void>): Promise<Draft> {
    return StagedDraft.make(this.#staging, from && { from, beforeCopy }, mode);
  }

  async room(): Promise<Room> {
    const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(this.#directory);
    return {
      blockBytes: bsize,
      blocks,
      freeBlocks: bfree,
      availableBlocks: bavail,
      files,
      freeFiles: ffree,
    };
  }

  #lstat(path: string): Stats {
    return lstatSync(this.#at(path));
  }

  #at(path: string): string {
    return join(this.#directory, path);
  }
}

function kindOf(entry: Dirent): EntryKind | undefined {
  if (entry.isFile()) return 'file';
  if (entry.isDirectory()) return 'directory';
  return entry.isSymbolicLink() ? 'symlink' : undefined;
}
