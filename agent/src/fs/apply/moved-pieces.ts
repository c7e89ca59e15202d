import { type Chunk, chunkHashBytes, chunksOf, recipeOf } from '../../core/chunks/recipe.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { ContentSource } from '../../sync/ports/folder.ts';
import type { SoughtChunks } from '../../sync/ports/pieces.ts';
import { descending } from '../descent.ts';
import type { Places } from '../places.ts';
import type { ExpectedBlock } from '../read/content-id.ts';
import { readFully, withFile } from '../read/read-content.ts';
import { readBlock, readRange } from './block-store.ts';

/** The recipe of a block, once it is verified. Runs in a worker. */
export function recipeOfBlock(
  places: Places,
  { block, source }: { readonly block: ExpectedBlock; readonly source: ContentSource },
): Uint8Array | undefined {
  const bytes = readBlock(places, block, source);
  return bytes && recipeOf(bytes, places.hash);
}

/** The recipe of a range of a file in the folder, which is not verified. Runs in a worker. */
export function recipeOfRange(
  places: Places,
  { path, offset, length }: { readonly path: string; readonly offset: number; readonly length: number },
): Uint8Array | undefined {
  try {
    const bytes = descending(places, (descent) => {
      const entry = descent.entry(path);
      return entry === undefined ? undefined : readRange(places.system, entry, offset, new Uint8Array(length));
    });
    return bytes && recipeOf(bytes, places.hash);
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The place of each chunk in a file of the folder; below 0 if it is at none of the expected ones. Runs in a worker. */
export function findPieces(places: Places, { path, shift, blocks }: SoughtChunks): readonly Float64Array[] {
  const found = blocks.map(({ places: { length } }) => new Float64Array(length).fill(-1));
  try {
    descending(places, (descent) => {
      const entry = descent.entry(path);
      if (entry === undefined) return;
      withFile(places.system, entry, (fd) => {
        if (!places.system.fstat(fd).isFile()) return;
        const isAt = (chunk: Chunk, place: number): boolean => {
          if (place < 0) return false;
          const bytes = new Uint8Array(chunk.length);
          if (readFully(places.system, fd, bytes, place) !== chunk.length) return false;
          return Buffer.compare(places.hash(bytes).subarray(0, chunkHashBytes), chunk.hash) === 0;
        };
        let expected = shift;
        for (const [index, block] of blocks.entries()) {
          const target = found[index];
          const chunks = chunksOf(block.recipe, block.size);
          if (chunks !== undefined && target !== undefined) expected = findIn(block, chunks, target, expected, isAt);
        }
      });
    });
  } catch (error) {
    // The pieces found before stay valid: each block is verified when its pieces are joined.
    if (errorCodeOf(error) === undefined) throw error;
  }
  return found;
}

/**
 * Notes the places of the chunks of one block in `found`, and returns the shift of the last one. A chunk is most likely as far from its place
 * as the one before it; after an insertion, as the one behind it.
 */
function findIn(
  { offset, places }: SoughtChunks['blocks'][number],
  chunks: readonly Chunk[],
  found: Float64Array,
  shift: number,
  isAt: (chunk: Chunk, place: number) => boolean,
): number {
  let expected = shift;
  for (const [index, chunk] of chunks.entries()) {
    const known = places[index] ?? -1;
    const place = [offset + chunk.offset + expected, known].find((candidate) => isAt(chunk, candidate));
    if (place === undefined) continue;
    found[index] = place;
    expected = place - offset - chunk.offset;
  }
  for (let index = chunks.length - 2; index >= 0; index--) {
    const [chunk, next] = [chunks[index], chunks[index + 1]];
    const behind = found[index + 1] ?? -1;
    if (chunk === undefined || next === undefined || behind < 0 || (found[index] ?? -1) >= 0) continue;
    const place = behind - chunk.length;
    if (isAt(chunk, place)) found[index] = place;
  }
  return expected;
}
