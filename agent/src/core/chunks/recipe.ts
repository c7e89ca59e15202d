import { chunkBytesMax, chunkBytesMin, chunkEnd } from './chunker.ts';

/** Bytes of a chunk's hash in a recipe: enough to find it. The block that it becomes a part of is verified by its whole hash. */
export const chunkHashBytes = 16;

/** Bytes of one chunk in a recipe: its length, 4 bytes, most significant first, and its hash. */
const entryBytes = 4 + chunkHashBytes;

/** A chunk of a recipe. */
export interface Chunk {
  /** The position of the chunk in the bytes that the recipe describes. */
  readonly offset: number;
  readonly length: number;
  readonly hash: Uint8Array;
}

/** The recipe of `bytes`: their chunks in order, packed. */
export function recipeOf(bytes: Uint8Array, hash: (chunk: Uint8Array) => Uint8Array): Uint8Array {
  const entries: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = chunkEnd(bytes, start);
    const entry = new Uint8Array(entryBytes);
    new DataView(entry.buffer).setUint32(0, end - start);
    entry.set(hash(bytes.subarray(start, end)).subarray(0, chunkHashBytes), 4);
    entries.push(entry);
    start = end;
  }
  const recipe = new Uint8Array(entries.length * entryBytes);
  for (const [index, entry] of entries.entries()) recipe.set(entry, index * entryBytes);
  return recipe;
}

/** The chunks of a recipe of `size` bytes. Undefined if no recipe of so many bytes is like that. */
export function chunksOf(recipe: Uint8Array, size: number): readonly Chunk[] | undefined {
  if (recipe.length % entryBytes !== 0) return undefined;
  const view = new DataView(recipe.buffer, recipe.byteOffset, recipe.byteLength);
  const chunks: Chunk[] = [];
  let offset = 0;
  for (let at = 0; at < recipe.length; at += entryBytes) {
    const length = view.getUint32(at);
    const isLast = at + entryBytes === recipe.length;
    if (length === 0 || length > chunkBytesMax || (length < chunkBytesMin && !isLast)) return undefined;
    chunks.push({ offset, length, hash: recipe.subarray(at + 4, at + entryBytes) });
    offset += length;
  }
  return offset === size ? chunks : undefined;
}
