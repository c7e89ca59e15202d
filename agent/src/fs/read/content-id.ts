import { blockBytes, type ContentId } from '@lockstep/shared';
import { blake3 } from '@napi-rs/blake-hash';
import { blockCount, blockHashBytes, blockRange, hashOfBlock } from '../../core/blocks.ts';

/** Hashes one block, to 32 bytes. The simulator has its own, because the bytes of its large files do not exist. */
export type BlockHash = (bytes: Uint8Array) => Buffer;

/** The hash of one block: BLAKE3. */
export function blockHash(bytes: Uint8Array): Buffer {
  return blake3(bytes);
}

/** The content id of a file of one block. An empty file has one empty block. */
export function singleBlockId(hash: BlockHash, bytes: Uint8Array): ContentId {
  return `b3:${hash(bytes).toString('hex')}` as ContentId;
}

/** The content id of a file of several blocks, from their concatenated hashes. */
export function blockTreeId(blocks: Uint8Array): ContentId {
  return `b3t:${blake3(blocks).toString('hex')}` as ContentId;
}

/** The id of a content, and the concatenated block hashes if there is more than one block. */
export interface HashedContent {
  readonly content: ContentId;
  readonly blocks?: Uint8Array;
}

/** The id of a content of `size` bytes with these concatenated block hashes. */
export function contentOfHashes(blocks: Uint8Array, size: number): HashedContent {
  if (size > blockBytes) return { content: blockTreeId(blocks), blocks };
  return { content: `b3:${Buffer.from(blocks).toString('hex')}` as ContentId };
}

/** The concatenated block hashes of a content: the reverse of `contentOfHashes`. */
export function hashesOf({ content, blocks }: HashedContent): Uint8Array {
  return blocks ?? new Uint8Array(Buffer.from(content.slice('b3:'.length), 'hex'));
}

/** Hashes bytes in memory. */
export function hashBytes(bytes: Uint8Array, hash: BlockHash = blockHash): HashedContent {
  if (bytes.length <= blockBytes) return { content: singleBlockId(hash, bytes) };
  const count = blockCount(bytes.length);
  const blocks = new Uint8Array(count * blockHashBytes);
  for (let index = 0; index < count; index++) {
    const { offset, length } = blockRange(bytes.length, index);
    blocks.set(hash(bytes.subarray(offset, offset + length)), index * blockHashBytes);
  }
  return { content: blockTreeId(blocks), blocks };
}

/** True if `blocks` are the block hashes of `content`, for a file of `size` bytes. */
export function fitsContent(content: ContentId, blocks: Uint8Array | undefined, size: number): boolean {
  if (size <= blockBytes) return content.startsWith('b3:');
  return blocks !== undefined && blocks.length === blockCount(size) * blockHashBytes && blockTreeId(blocks) === content;
}

/** The expected identity of one block of a content. */
export interface ExpectedBlock {
  readonly content: ContentId;
  /** Of the whole content. */
  readonly size: number;
  readonly index: number;
  /** Its own hash, if the content has more than one block. */
  readonly hash?: Uint8Array | undefined;
}

/** The block of a content that an operation describes. Throws a RangeError if there is no such block. */
export function expectedBlock(request: {
  readonly content: ContentId;
  readonly blocks?: Uint8Array | undefined;
  readonly size: number;
  readonly index: number;
}): ExpectedBlock {
  const { content, blocks, size, index } = request;
  blockRange(size, index);
  // A copy: the concatenated hashes of a large file are not sent to a worker with each block.
  const hash = size <= blockBytes ? undefined : new Uint8Array(hashOfBlock(blocks ?? new Uint8Array(), index));
  return { content, size, index, hash };
}

/** True if `bytes` are that block. */
export function isBlock(hash: BlockHash, bytes: Uint8Array, expected: ExpectedBlock): boolean {
  if (bytes.length !== blockRange(expected.size, expected.index).length) return false;
  if (expected.hash === undefined) return singleBlockId(hash, bytes) === expected.content;
  return Buffer.compare(hash(bytes), expected.hash) === 0;
}

/** The file name of a content in `history/` and `staging/`: its id without the colon, which some tools parse as a host. */
export function contentFileName(content: ContentId): string {
  return content.replace(':', '-');
}

/** The content with this file name in `history/`. Undefined for any other name. */
export function contentOfFileName(name: string): ContentId | undefined {
  return /^b3t?-[0-9a-f]{64}$/.test(name) ? (name.replace('-', ':') as ContentId) : undefined;
}
