import { constants } from 'node:fs';
import { blockBytes } from '@lockstep/shared';
import { blockCount, blockHashBytes } from '../../core/blocks.ts';
import { isSameFingerprint } from '../../core/entry.ts';
import { fingerprintOf } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';
import { progressed } from '../worker/worker-progress.ts';
import { blockTreeId, type HashedContent, singleBlockId } from './content-id.ts';

/** Follows no link, and does not block if a pipe has taken the name. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** One block and one byte, to detect at once that a file grew. Each thread reuses its own. */
const buffer = new Uint8Array(blockBytes + 1);

/** Opens an existing file for reading, runs `body`, and closes it. */
export function withFile<T>(system: SystemCalls, path: string, body: (fd: number) => T): T {
  const fd = system.open(path, openFlags);
  try {
    return body(fd);
  } finally {
    system.close(fd);
  }
}

/** Reads until `target` is full or the file ends. Returns the number of bytes. */
export function readFully(system: SystemCalls, fd: number, target: Uint8Array, position: number): number {
  progressed();
  let filled = 0;
  while (filled < target.length) {
    const count = system.read(fd, target, filled, target.length - filled, position + filled);
    if (count === 0) break;
    filled += count;
  }
  return filled;
}

export interface ReadContent extends HashedContent {
  readonly size: number;
  /** A copy of the bytes, if there are at most as many as requested. */
  readonly bytes?: Uint8Array;
}

/**
 * Hashes an open file of `size` bytes, and copies its bytes if there are at most `copyBytesMax`. Undefined if the file is shorter or
 * longer, since a program is writing it, and if `givesUp` returns true before a block.
 */
export function readContent(
  { system, hash, givesUp }: Pick<Places, 'system' | 'hash'> & { readonly givesUp?: () => boolean },
  fd: number,
  size: number,
  copyBytesMax: number,
): ReadContent | undefined {
  if (size <= blockBytes) {
    const bytes = buffer.subarray(0, size + 1);
    if (readFully(system, fd, bytes, 0) !== size) return undefined;
    const whole = bytes.subarray(0, size);
    const hashed = { size, content: singleBlockId(hash, whole) };
    return size <= copyBytesMax ? { ...hashed, bytes: whole.slice() } : hashed;
  }
  const count = blockCount(size);
  const blocks = new Uint8Array(count * blockHashBytes);
  for (let index = 0; index < count; index++) {
    if (givesUp?.() === true) return undefined;
    const offset = index * blockBytes;
    const length = Math.min(blockBytes, size - offset);
    const block = buffer.subarray(0, index === count - 1 ? length + 1 : length);
    if (readFully(system, fd, block, offset) !== length) return undefined;
    blocks.set(hash(block.subarray(0, length)), index * blockHashBytes);
  }
  return { size, content: blockTreeId(blocks), blocks };
}

/** True while an open file is unchanged. */
export function isUnchanged(system: SystemCalls, fd: number, before: EntryStats): boolean {
  return isSameFingerprint(fingerprintOf(system.fstat(fd)), fingerprintOf(before));
}
