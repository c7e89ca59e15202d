import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  renameSync,
  type Stats,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { conflictPath } from '../../core/conflict-name.ts';
import { stampOfMs } from '../../core/hlc.ts';
import { cloneFileAsync, copyFileAsync } from '../../os/copy-file.ts';
import { secondsOf } from '../../os/file-time.ts';
import type { Draft, EntryStat, OpenVersion, Published, Soon, VersionId } from '../ports/access.ts';
import { withOpenDirectory } from './closed-directory.ts';
import { fsyncOf, readFully, statOf, VersionFile, versionOf } from './version-file.ts';

/** The place of drafts, and their names. */
export interface Staging {
  /** The member's folder. */
  readonly folder: string;
  /** The member's name, for conflict copies. */
  readonly member: string;
  /** A path on the folder's file system that no other draft has. */
  newPath(): string;
  nowMs(): number;
}

/** The version that a draft copies. */
interface Copied {
  readonly from: OpenVersion;
  /** Called before a copy that takes room of its own. */
  readonly beforeCopy?: (() => Soon<void>) | undefined;
}

/** The modes of a draft and of the directories that are made above it. */
const draftMode = 0o600;
const directoryMode = 0o755;

/** A draft in a file of its own on the file system of the folder. It takes its path in the folder by one rename(2). */
export class StagedDraft implements Draft {
  readonly #staging: Staging;
  readonly #path: string;
  readonly #fd: number;

  private constructor(staging: Staging, path: string, fd: number) {
    this.#staging = staging;
    this.#path = path;
    this.#fd = fd;
  }

  /** Makes a draft: a copy of a version, or an empty file. */
  static async make(staging: Staging, copied: Copied | undefined, mode: number): Promise<StagedDraft> {
    const path = staging.newPath();
    try {
      if (copied === undefined) {
        const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, draftMode);
        fchmodSync(fd, mode);
        return new StagedDraft(staging, path, fd);
      }
      const { from, beforeCopy } = copied;
      if (!(from instanceof VersionFile)) throw new TypeError('a draft here copies a file of the folder');
      // By the descriptor: another file may have the path by now.
      const file = { fd: from.fd, path: `/proc/self/fd/${from.fd}` };
      if (!(await cloneFileAsync(file, path))) {
        await beforeCopy?.();
        await copyFileAsync(file, path);
      }
      chmodSync(path, draftMode);
      const fd = openSync(path, constants.O_RDWR);
      fchmodSync(fd, mode);
      return new StagedDraft(staging, path, fd);
    } catch (error) {
      removeIfThere(path);
      throw error;
    }
  }

  stat(): EntryStat {
    return statOf(fstatSync(this.#fd));
  }

  read(buffer: Uint8Array, offset: number): number {
    return readFully(this.#fd, buffer, offset);
  }

  write(bytes: Uint8Array, offset: number): number {
    let length = 0;
    while (length < bytes.length) length += writeSync(this.#fd, bytes, length, bytes.length - length, offset + length);
    return length;
  }

  truncate(size: number): void {
    ftruncateSync(this.#fd, size);
  }

  setMode(mode: number): void {
    fchmodSync(this.#fd, mode);
  }

  setTimes(atimeMs: number, mtimeMs: number): void {
    futimesSync(this.#fd, secondsOf(atimeMs * 1_000), secondsOf(mtimeMs * 1_000));
  }

  sync(): Promise<void> {
    return fsyncOf(this.#fd);
  }

  async publish(path: string, expected: VersionId | undefined): Promise<Published> {
    const directory = dirname(join(this.#staging.folder, path));
    const free = withOpenDirectory(directory, () => this.#place(path, expected));
    return { opened: new VersionFile(this.#fd), conflictPath: free };
  }

  /** Gives the draft its path. Returns that of the conflict copy, if it is one. */
  #place(path: string, expected: VersionId | undefined): string | undefined {
    const { folder, member, nowMs } = this.#staging;
    const current = lstatIfThere(join(folder, path));
    const isExpected = (current && versionOf(current)) === expected;
    const free = isExpected ? undefined : this.#freeCopy(conflictPath(path, stampOfMs(nowMs()), member));
    const target = join(folder, free ?? path);
    try {
      renameSync(this.#path, target);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      // Another member deleted the directory meanwhile: the file keeps it, as any new file does.
      mkdirSync(dirname(target), { recursive: true, mode: directoryMode });
      renameSync(this.#path, target);
    }
    return free;
  }

  drop(): void {
    closeSync(this.#fd);
    removeIfThere(this.#path);
  }

  /** `copy`, or a path like it that nothing has. */
  #freeCopy(copy: string): string {
    const { folder, member, nowMs } = this.#staging;
    let free = copy;
    for (let later = 1; lstatIfThere(join(folder, free)) !== undefined; later++) {
      free = conflictPath(copy, stampOfMs(nowMs() + later), member);
    }
    return free;
  }
}

function lstatIfThere(path: string): Stats | undefined {
  return lstatSync(path, { throwIfNoEntry: false });
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
