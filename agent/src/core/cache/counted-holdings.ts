import { type ContentId, filterBytesMax, filterBytesMin } from '@lockstep/shared';
import { flipBit, positionsOf } from './holdings-filter.ts';

/** The bits of a filter for each file: when it is made, and the bounds outside of which it is made again. */
const bitsPerFile = 14;
const bitsPerFileMin = 11;
const bitsPerFileMax = 17;
/** A counter that got here stays: a bit that is set for no content costs a question, one that is missing hides a content. */
const counterMax = 0xffff;

/**
 * The filter of the contents that this member holds. It has a counter for each bit, so that contents can be removed as well (Fan et al.,
 * "Summary Cache", 2000). Each file counts: a content that two files have is held until both are gone.
 */
export class CountedHoldings {
  readonly #counters: Uint16Array;
  readonly #bits: Uint8Array;
  /** The files that are in it. */
  files = 0;

  /** For about `files` files. */
  constructor(files: number) {
    const bytes = Math.ceil((files * bitsPerFile) / 64) * 8;
    this.#bits = new Uint8Array(Math.min(filterBytesMax, Math.max(filterBytesMin, bytes)));
    this.#counters = new Uint16Array(this.#bits.length * 8);
  }

  /** A file with this content is here. */
  add(content: ContentId): void {
    this.files++;
    for (const position of positionsOf(content, this.#counters.length)) {
      const count = this.#counters[position] ?? 0;
      if (count === 0) flipBit(this.#bits, position);
      if (count < counterMax) this.#counters[position] = count + 1;
    }
  }

  /** A file with this content, which was added, is here no more. */
  remove(content: ContentId): void {
    this.files--;
    for (const position of positionsOf(content, this.#counters.length)) {
      const count = this.#counters[position] ?? 0;
      if (count === counterMax) continue;
      this.#counters[position] = count - 1;
      if (count === 1) flipBit(this.#bits, position);
    }
  }

  /** True if the filter must be made again in another size. */
  get isUnfit(): boolean {
    const { length } = this.#bits;
    const isTooSmall = this.#isCrowded && length < filterBytesMax;
    return isTooSmall || (length > filterBytesMin && this.files * bitsPerFileMax < length * 8);
  }

  /** A copy of the bits, for the other members. Empty if the largest filter is too small: then they know nothing of what is held. */
  bits(): Uint8Array {
    return this.#isCrowded ? new Uint8Array(0) : this.#bits.slice();
  }

  get #isCrowded(): boolean {
    return this.files * bitsPerFileMin > this.#counters.length;
  }
}
