import type { Compression } from '@lockstep/shared';

/**
 * The rate above which a link of its own rate delivers sooner without compression: see "Compression" in the protocol. A link of
 * 100 Mbit/s is slower than that, one of 1 Gbit/s is not.
 */
const gainsBelowBytesPerSecond = 25_000_000;
/** Smaller blocks are mostly headers on the way. */
const bytesMin = 4_096;
/** A block that does not become smaller than this share of itself is sent as it is. */
const worthShare = 0.9;
/** After blocks that did not shrink, twice as many are sent untried each time, but not more. */
const untriedMax = 64;

/** Decides for one link which blocks are compressed. */
export class CompressionRule {
  readonly #mode: Compression;
  #untried = 0;
  #failures = 0;

  /** `isLocal`: the link does not leave this machine. */
  constructor(mode: Compression, isLocal: boolean) {
    this.#mode = mode === 'auto' && isLocal ? 'never' : mode;
  }

  /** True if a block of `bytes` bytes is to be tried. `bytesPerSecond`: the rate of the link; undefined if it was never full. */
  wants(bytes: number, bytesPerSecond: number | undefined): boolean {
    if (this.#mode === 'never' || bytes < bytesMin) return false;
    if (this.#mode === 'auto' && (bytesPerSecond ?? Number.POSITIVE_INFINITY) >= gainsBelowBytesPerSecond) return false;
    if (this.#untried === 0) return true;
    this.#untried--;
    return false;
  }

  /** Notes that a part of a block of `bytes` bytes became `packedBytes`. Returns whether that is worth while. */
  tried(bytes: number, packedBytes: number): boolean {
    const isWorth = packedBytes < worthShare * bytes;
    this.#failures = isWorth ? 0 : this.#failures + 1;
    this.#untried = isWorth ? 0 : Math.min(untriedMax, 2 ** this.#failures);
    return isWorth;
  }
}
