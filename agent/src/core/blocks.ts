import { blockBytes } from '@lockstep/shared';

/** Bytes of one block's hash (BLAKE3). */
export const blockHashBytes = 32;

/** The number of blocks of a file of `size` bytes. An empty file is one empty block, so that every content has something to hash. */
export function blockCount(size: number): number {
  return Math.max(1, Math.ceil(size / blockBytes));
}

/**
 * The byte range of block `index` in a file of `size` bytes; `length` is 0 only for the block of an empty file. Throws a RangeError if
 * there is no such block.
 */
export function blockRange(size: number, index: number): { readonly offset: number; readonly length: number } {
  if (!Number.isInteger(index) || index < 0 || index >= blockCount(size)) {
    throw new RangeError(`block ${index} of a file of ${size} bytes does not exist`);
  }
  const offset = index * blockBytes;
  return { offset, length: Math.min(blockBytes, size - offset) };
}

/** The hash of block `index`: a view into the joined hashes, not a copy. Throws a RangeError if there is no such hash. */
export function hashOfBlock(blocks: Uint8Array, index: number): Uint8Array {
  const start = index * blockHashBytes;
  if (!Number.isInteger(index) || index < 0 || start + blockHashBytes > blocks.length) {
    throw new RangeError(`there is no hash of block ${index} among ${blocks.length / blockHashBytes}`);
  }
  return blocks.subarray(start, start + blockHashBytes);
}
