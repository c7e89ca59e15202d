import type { Chunk } from './recipe.ts';

/** A part of a block: the bytes at `offset` of the old version, or of the block itself if they must be fetched. */
export interface Part {
  readonly from: 'old' | 'source';
  readonly offset: number;
  readonly length: number;
}

/**
 * The parts of a block, in order. `places`: where each chunk is in the old version, below 0 if it was not found there. Neighbours that are
 * neighbours there too are one part.
 */
export function partsOf(chunks: readonly Chunk[], places: ArrayLike<number>): readonly Part[] {
  const parts: Part[] = [];
  for (const [index, { offset, length }] of chunks.entries()) {
    const place = places[index] ?? -1;
    const part: Part = place < 0 ? { from: 'source', offset, length } : { from: 'old', offset: place, length };
    const last = parts.at(-1);
    if (last?.from === part.from && last.offset + last.length === part.offset) {
      parts[parts.length - 1] = { ...last, length: last.length + length };
    } else parts.push(part);
  }
  return parts;
}

/** The bytes of these parts that must be fetched. */
export function fetchedBytes(parts: readonly Part[]): number {
  return parts.reduce((sum, { from, length }) => (from === 'source' ? sum + length : sum), 0);
}

/** The longest part that must be fetched, in bytes. */
export function longestFetched(parts: readonly Part[]): number {
  return parts.reduce((most, { from, length }) => (from === 'source' ? Math.max(most, length) : most), 0);
}
