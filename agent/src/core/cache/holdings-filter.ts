import { type ContentId, filterBytesMax, filterBytesMin } from '@lockstep/shared';

/** Bits of a filter that stand for one content. With 11 bits of the filter for each content, 0.65 % of the answers are false. */
const bitsPerContent = 5;
const hashDigits = 64;
const wordDigits = 8;

/**
 * A Bloom filter of the contents that another member holds (Bloom, "Space/time trade-offs in hash coding with allowable errors", CACM 1970).
 * It answers "no" only for contents that are not in it; some of the answers "yes" are wrong.
 */
export class HoldingsFilter {
  readonly #bits: Uint8Array;
  #seq: number;

  /** The filter in the state `seq`. Copies `bits`: its length is one that `isFilterLength` admits. */
  constructor(seq: number, bits: Uint8Array) {
    this.#seq = seq;
    this.#bits = new Uint8Array(bits);
  }

  /** Its size in bytes. */
  get bytes(): number {
    return this.#bits.length;
  }

  /** False if the content is not among those held. */
  mayHave(content: ContentId): boolean {
    return positionsOf(content, this.#bits.length * 8).every((position) => isSet(this.#bits, position));
  }

  /** Inverts the bits at these positions. False, and nothing is done, if `seq` is not that of the next state, or a position is beyond the end. */
  flip(seq: number, positions: readonly number[]): boolean {
    if (seq !== this.#seq + 1 || positions.some((position) => position >= this.#bits.length * 8)) return false;
    this.#seq = seq;
    for (const position of positions) flipBit(this.#bits, position);
    return true;
  }
}

/** True for the length, in bytes, of a filter that a member may send. */
export function isFilterLength(bytes: number): boolean {
  return bytes >= filterBytesMin && bytes <= filterBytesMax && bytes % 8 === 0;
}

/**
 * The positions of a content in a filter of `bitCount` bits. A content id is a uniform hash already, so words of it serve as the hash
 * functions of the filter.
 */
export function positionsOf(content: ContentId, bitCount: number): readonly number[] {
  const first = content.length - hashDigits;
  return Array.from({ length: bitsPerContent }, (_, index) => {
    const from = first + index * wordDigits;
    return Number.parseInt(content.slice(from, from + wordDigits), 16) % bitCount;
  });
}

/** The positions at which two filters of one size differ, ascending. */
export function differingPositions(before: Uint8Array, after: Uint8Array): readonly number[] {
  const positions: number[] = [];
  // An iterator over the bytes takes 30 ms for the filter of a million files.
  for (let index = 0; index < after.length; index++) {
    const differing = (after[index] ?? 0) ^ (before[index] ?? 0);
    if (differing === 0) continue;
    for (let bit = 0; bit < 8; bit++) if (differing & (1 << bit)) positions.push(index * 8 + bit);
  }
  return positions;
}

/** Inverts one bit: bit 0 of a byte is its least significant one. */
export function flipBit(bits: Uint8Array, position: number): void {
  const index = position >>> 3;
  bits[index] = (bits[index] ?? 0) ^ (1 << (position & 7));
}

function isSet(bits: Uint8Array, position: number): boolean {
  return ((bits[position >>> 3] ?? 0) & (1 << (position & 7))) !== 0;
}
