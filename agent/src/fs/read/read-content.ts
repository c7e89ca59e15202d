import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs';
import { blockBytes } from '@lockstep/shared';
import { blockCount, blockHashBytes } from '../../core/blocks.ts';
import { progressed } from '../worker/worker-progress.ts';
import { blockHash, blockTreeId, type HashedContent, singleBlockId } from './content-id.ts';

/** Never through a link, and never waiting for a writer should a pipe have taken the name. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** One block and one byte: reading into it shows at once that a file grew. One for each thread, used again and again. */
const buffer = new Uint8Array(blockBytes + 1);

/** Opens an existing file for reading, runs `body`, and closes it. */
export function withFile<T>(path: string, body: (fd: number) => T): T {
  const fd = openSync(path, openFlags);
  try {
    return body(fd);
  } finally {
    closeSync(fd);
  }
}

/** Reads until `target` is full or the file ends; returns the number of bytes. */
export function readFully(fd: number, target: Uint8Array, position: number): number {
  progressed();
  let filled = 0;
  while (filled < target.length) {
    const count = readSync(fd, target, filled, target.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

export interface ReadContent extends HashedContent {
  readonly size: number;
  /** The bytes, when there are at most as many as were asked for. A copy. */
  readonly bytes?: Uint8Array;
}

/**
 * Hashes an open file of `size` bytes, and copies its bytes when there are at most `copyBytesMax`. Undefined when the file
 * turned out shorter or longer: it is being written.
 */
export function readContent(fd: number, size: number, copyBytesMax: number): ReadContent | undefined {
  if (size <= blockBytes) {
    const bytes = buffer.subarray(0, size + 1);
    if (readFully(fd, bytes, 0) !== size) return undefined;
    const whole = bytes.subarray(0, size);
    const hashed = { size, content: singleBlockId(whole) };
    return size <= copyBytesMax ? { ...hashed, bytes: whole.slice() } : hashed;
  }
  const count = blockCount(size);
  const blocks = new Uint8Array(count * blockHashBytes);
  for (let index = 0; index < count; index++) {
    const offset = index * blockBytes;
    const length = Math.min(blockBytes, size - offset);
    const block = buffer.subarray(0, index === count - 1 ? length + 1 : length);
    if (readFully(fd, block, offset) !== length) return undefined;
    blocks.set(blockHash(block.subarray(0, length)), index * blockHashBytes);
  }
  return { size, content: blockTreeId(blocks), blocks };
}

/** True while an open file is as it was. */
export function isUnchanged(fd: number, before: Stats): boolean {
  const now = fstatSync(fd);
  return (
    now.ino === before.ino &&
    now.size === before.size &&
    now.mtimeMs === before.mtimeMs &&
    now.ctimeMs === before.ctimeMs &&
    now.mode === before.mode
  );
}
