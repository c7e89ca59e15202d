import { close, closeSync, fstatSync, fsync, readSync, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import { MountError } from '../errno.ts';
import type { EntryStat, OpenVersion, VersionId } from '../ports/access.ts';

const permissionBits = 0o7777;
/** It takes a moment to free the blocks of a larger file. */
const largeBytes = 16_777_216;
export const fsyncOf = promisify(fsync);

/** The attributes of a file, directory or link. Throws ENOENT for anything else: it is not replicated. */
export function statOf(stats: Stats): EntryStat {
  const { mode, size, mtimeMs, ctimeMs, ino: inode, birthtimeMs } = stats;
  const kind = stats.isFile()
    ? 'file'
    : stats.isDirectory()
      ? 'directory'
      : stats.isSymbolicLink()
        ? 'symlink'
        : undefined;
  if (kind === undefined) throw new MountError('ENOENT');
  const birthMs = birthtimeMs > 0 ? birthtimeMs : undefined;
  return { kind, mode: mode & permissionBits, size, mtimeMs, ctimeMs, inode, birthMs };
}

/** Names the inode and what was last written to it. Mode and name are no part: a change of these is no other version. */
export function versionOf({ dev, ino, size, mtimeMs }: Stats): VersionId {
  return `${dev}:${ino}:${size}:${mtimeMs}`;
}

/** Fills `buffer` from `offset` on, as far as the file goes. */
export function readFully(fd: number, buffer: Uint8Array, offset: number): number {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, offset + length);
    if (count === 0) break;
    length += count;
  }
  return length;
}

/** A version of a file of the folder. The agent replaces a file by a rename, so the descriptor keeps its version. */
export class VersionFile implements OpenVersion {
  readonly fd: number;
  readonly isLocal = true;

  /** Takes the descriptor, which `close` closes. */
  constructor(fd: number) {
    this.fd = fd;
  }

  /** By now: a program may write to the file in the folder itself. */
  get version(): VersionId {
    return versionOf(fstatSync(this.fd));
  }

  stat(): EntryStat {
    return statOf(fstatSync(this.fd));
  }

  read(buffer: Uint8Array, offset: number): number {
    return readFully(this.fd, buffer, offset);
  }

  sync(): Promise<void> {
    return fsyncOf(this.fd);
  }

  close(): void {
    // Not all at once: if the file has no name any more, its blocks are freed.
    if (fstatSync(this.fd).size > largeBytes) close(this.fd, () => undefined);
    else closeSync(this.fd);
  }
}
