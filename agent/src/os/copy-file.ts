import * as fs from 'node:fs';
import { copyFile, open } from 'node:fs/promises';
import { promisify } from 'node:util';

const read = promisify(fs.read);

/** Bytes that are read at a time. */
const partBytes = 1_048_576;
const cloneFlags = fs.constants.COPYFILE_FICLONE_FORCE | fs.constants.COPYFILE_EXCL;
/** As bits of st_mode: without the type. */
const modeBits = 0o7777;

/** A file that is open for reading, and a path that leads to it. */
export interface OpenFile {
  readonly fd: number;
  readonly path: string;
}

/**
 * Copies a file to `to`, which must not exist, with its mode; with shared blocks if the file system can do that. If the file becomes longer
 * meanwhile, the copy has what it had at the beginning; if it becomes shorter, so does the copy. Throws the error of the call that failed,
 * and leaves no part of the copy.
 *
 * `fs.copyFile` would not end if the file becomes shorter: libuv asks the kernel for the missing bytes without end, and the thread is lost.
 */
export function copyFileSync({ fd, path }: OpenFile, to: string): void {
  try {
    fs.copyFileSync(path, to, cloneFlags);
    return;
  } catch (error) {
    if (isTaken(error)) throw error;
  }
  const { size, mode } = fs.fstatSync(fd);
  const out = fs.openSync(to, 'wx', mode & modeBits);
  try {
    copyBytes(fd, out, size);
    fs.fchmodSync(out, mode & modeBits);
  } catch (error) {
    fs.rmSync(to, { force: true });
    throw error;
  } finally {
    fs.closeSync(out);
  }
}

function copyBytes(from: number, to: number, size: number): void {
  const part = Buffer.allocUnsafe(Math.min(size, partBytes));
  for (let position = 0; position < size; ) {
    const length = fs.readSync(from, part, 0, Math.min(part.length, size - position), position);
    if (length === 0) return;
    for (let written = 0; written < length; ) {
      written += fs.writeSync(to, part, written, length - written, position + written);
    }
    position += length;
  }
}

/** Copies a file to `to`, which must not exist, with its mode and shared blocks. False if the file system cannot do that. */
export async function cloneFileAsync({ path }: Pick<OpenFile, 'path'>, to: string): Promise<boolean> {
  try {
    await copyFile(path, to, cloneFlags);
    return true;
  } catch (error) {
    if (isTaken(error)) throw error;
    return false;
  }
}

/** As `copyFileSync`, without occupying the thread, and without shared blocks. */
export async function copyFileAsync({ fd }: Pick<OpenFile, 'fd'>, to: string): Promise<void> {
  const { size, mode } = fs.fstatSync(fd);
  // No streams: one that fails closes the descriptor of its caller, or makes its file after it has failed.
  const out = await open(to, 'wx', mode & modeBits);
  try {
    const part = Buffer.allocUnsafe(Math.min(size, partBytes));
    for (let position = 0; position < size; ) {
      const { bytesRead } = await read(fd, part, 0, Math.min(part.length, size - position), position);
      if (bytesRead === 0) break;
      // It goes on where the last write ended.
      await out.writeFile(part.subarray(0, bytesRead));
      position += bytesRead;
    }
    await out.chmod(mode & modeBits);
  } catch (error) {
    fs.rmSync(to, { force: true });
    throw error;
  } finally {
    await out.close();
  }
}

/** True if there is a file at the target. Any other failure of a clone, for which this file system may be the reason, comes again. */
function isTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EEXIST';
}
