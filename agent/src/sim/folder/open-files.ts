import { DiskError } from '../disk/disk-error.ts';
import type { Inode } from '../disk/inode.ts';

export interface OpenFile {
  readonly inode: Inode;
  /** Where it was opened. */
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
