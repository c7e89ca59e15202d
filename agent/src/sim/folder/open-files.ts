import { constants } from 'node:fs';
import { DiskError } from '../disk/disk-error.ts';
import type { Inode } from '../disk/inode.ts';

/** The bits of a mode by which the owner of an entry may read and write it. */
export const ownerMay = { read: 0o400, write: 0o200 } as const;

export interface OpenFile {
  readonly inode: Inode;
  /** The path at which it was opened. */
  readonly path: string;
  readonly writes: boolean;
}

/** The open files of a simulated process, by descriptor. */
export class OpenFiles {
  readonly #files = new Map<number, OpenFile>();
  /** 0 to 2 are the standard streams. */
  #lastFd = 2;

  /** Returns the descriptor. */
  add(file: OpenFile): number {
    file.inode.opens += 1;
    this.#lastFd += 1;
    this.#files.set(this.#lastFd, file);
    return this.#lastFd;
  }

  find(fd: number): OpenFile | undefined {
    return this.#files.get(fd);
  }

  get(fd: number): OpenFile {
    const file = this.#files.get(fd);
    if (file === undefined) throw new DiskError('EBADF', String(fd));
    return file;
  }

  /** Returns the inode, whose number of opens the disk counts down. */
  remove(fd: number): Inode {
    const { inode } = this.get(fd);
    this.#files.delete(fd);
    return inode;
  }
}

/** Throws the error of open(2), if it fails for this inode. */
export function checkOpens(
  inode: Inode,
  absolute: string,
  { writes, flags }: { writes: boolean; flags: number },
): void {
  const { type, mode } = inode;
  if (type === 'symlink') throw new DiskError('ELOOP', absolute);
  if (type !== 'directory' && (flags & constants.O_DIRECTORY) !== 0) throw new DiskError('ENOTDIR', absolute);
  if (type === 'directory' && writes) throw new DiskError('EISDIR', absolute);
  if ((mode & (writes ? ownerMay.write : ownerMay.read)) === 0) throw new DiskError('EACCES', absolute);
}
