import { type Chunk, chunksOf } from '../../core/chunks/recipe.ts';
import type { PieceReader } from '../ports/pieces.ts';

/** Bytes of the old version that are searched in one job of a worker: about 15 ms, for others wait for it. */
export const scannedBytes = 4 * 1_048_576;

/** Chunks of which the place is remembered: those of some 16 GiB, in 100 MB. */
const chunksMax = 1_048_576;

/** The chunks of a file's old version, as far as it was searched: it is read only when needed, first near the place where bytes are missing. */
export class OldChunks {
  readonly #pieces: PieceReader;
  readonly #path: string;
  readonly #size: number;
  /** The numbers of the parts, of `scannedBytes`, that were not searched yet. */
  readonly #parts: Set<number>;
  readonly #places = new Map<string, number>();

  /** `parts`: the numbers of the parts that may hold bytes which moved. */
  constructor(
    pieces: PieceReader,
    { path, size, parts }: { readonly path: string; readonly size: number; readonly parts: Iterable<number> },
  ) {
    this.#pieces = pieces;
    this.#path = path;
    this.#size = size;
    this.#parts = new Set(parts);
  }

  /** Searches the part nearest to `offset`. Returns the number of its bytes; 0 if none is left. */
  async searchNear(offset: number): Promise<number> {
    let nearest: number | undefined;
    let distance = Number.POSITIVE_INFINITY;
    for (const part of this.#parts) {
      const away = Math.abs((part + 0.5) * scannedBytes - offset);
      if (away < distance) [nearest, distance] = [part, away];
    }
    if (nearest === undefined || this.#places.size >= chunksMax) return 0;
    this.#parts.delete(nearest);
    const start = nearest * scannedBytes;
    const length = Math.min(scannedBytes, this.#size - start);
    const recipe = await this.#pieces.chunks({ path: this.#path, offset: start, length });
    for (const chunk of (recipe && chunksOf(recipe, length)) ?? []) {
      const key = keyOf(chunk);
      if (!this.#places.has(key)) this.#places.set(key, start + chunk.offset);
    }
    return length;
  }

  /** A place of each chunk; below 0 if none is known. */
  placesOf(chunks: readonly Chunk[]): Float64Array {
    return Float64Array.from(chunks, (chunk) => this.#places.get(keyOf(chunk)) ?? -1);
  }
}

/** The first bytes of a hash, as a text: a place is only a proposal. */
function keyOf({ hash }: Chunk): string {
  return String.fromCharCode(...hash.subarray(0, 8));
}
