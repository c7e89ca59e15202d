import { blockBytes, type ContentId, inlineBytesMax } from '@lockstep/shared';
import { blake3 } from '@napi-rs/blake-hash';

/**
 * The content of a simulated file: the blocks as they travel, and the size it claims. Content that may travel inline is its
 * real bytes. Larger content is virtual: a few bytes stand for each block, so that a file of several blocks costs nothing.
 */
export interface Content {
  readonly id: ContentId;
  readonly size: number;
  readonly parts: readonly Uint8Array[];
  /** The parts' hashes, joined; only with more than one. */
  readonly blocks?: Uint8Array;
}

const hexDigits = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** A cheap hash of 32 bytes. It need not resist attack: nobody in the simulation forges content. */
export function hashOf(bytes: Uint8Array): Uint8Array {
  let a = 0x9e3779b9 ^ bytes.length;
  let b = 0x85ebca6b;
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 0x01000193);
    b = Math.imul(b ^ byte, 0x5bd1e995);
    b = (b << 13) | (b >>> 19);
  }
  const hash = new Uint32Array(8);
  for (let i = 0; i < 8; i++) {
    a = Math.imul(a ^ (a >>> 16), 0x7feb352d) + b;
    b = Math.imul(b ^ (b >>> 15), 0x846ca68b) ^ a;
    hash[i] = b >>> 0;
  }
  return new Uint8Array(hash.buffer);
}

/** A content id with this prefix. */
function idOf(prefix: 'b3:' | 'b3t:', hash: Uint8Array): ContentId {
  let id: string = prefix;
  for (const byte of hash) id += hexDigits[byte];
  return id as ContentId;
}

/** The content made of these blocks. */
export function contentOfParts(parts: readonly Uint8Array[], size: number): Content {
  const [first] = parts;
  if (first !== undefined && parts.length === 1) return { id: idOf('b3:', hashOf(first)), size, parts };
  const blocks = new Uint8Array(32 * parts.length);
  for (const [index, part] of parts.entries()) blocks.set(hashOf(part), 32 * index);
  // The real hash: the codec checks it, and some runs pass all messages through the codec.
  return { id: idOf('b3t:', blake3(blocks)), size, parts, blocks };
}

/** The same content after a bit of it flipped on the disk. */
export function rotten({ parts, size }: Content): Content {
  const [first = new Uint8Array(), ...rest] = parts;
  const flipped = first.slice();
  flipped[0] = (flipped[0] ?? 0) ^ 1;
  return contentOfParts([flipped, ...rest], size);
}

/** The content of real bytes. */
export function contentOfBytes(bytes: Uint8Array): Content {
  if (bytes.length <= blockBytes) return contentOfParts([bytes], bytes.length);
  const parts: Uint8Array[] = [];
  for (let offset = 0; offset < bytes.length; offset += blockBytes) {
    parts.push(bytes.subarray(offset, offset + blockBytes));
  }
  return contentOfParts(parts, bytes.length);
}

const encoder = new TextEncoder();

/** The content of a text. */
export function contentOfText(text: string): Content {
  return contentOfBytes(encoder.encode(text));
}

/** True when there are bytes and all of them are zero. */
export function isZeros({ size, parts }: Content): boolean {
  return size > 0 && parts.every((part) => part.every((byte) => byte === 0));
}

/** Virtual content above `inlineBytesMax`, unique for `name`. */
export function virtualContent(name: string, size: number): Content {
  if (size <= inlineBytesMax) throw new RangeError('content that may travel inline has real bytes');
  const parts = Array.from({ length: Math.ceil(size / blockBytes) }, (_, index) =>
    encoder.encode(`${name}#${index}/${size}`),
  );
  return contentOfParts(parts, size);
}

/** The content with its last block replaced: what appending to a large file, or cutting it, does to its blocks. */
export function withNewTail(content: Content, name: string, size: number): Content {
  const fresh = virtualContent(name, size);
  const sameBlocks = Math.min(content.parts.length - 1, fresh.parts.length - 1);
  return contentOfParts([...content.parts.slice(0, sameBlocks), ...fresh.parts.slice(sameBlocks)], size);
}

/** True when `bytes` are the block `index` of `content`. */
export function isBlock(bytes: Uint8Array, content: ContentId, blocks: Uint8Array | undefined, index: number): boolean {
  if (blocks === undefined) return index === 0 && idOf('b3:', hashOf(bytes)) === content;
  const hash = hashOf(bytes);
  return hash.every((byte, i) => byte === blocks[32 * index + i]);
}
