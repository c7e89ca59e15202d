import type { Dot } from '@lockstep/shared';

/**
 * A digest of all heads that does not depend on the order in which they came. Each head's 64-bit hash is added, each half modulo 2^32, so a
 * head can be removed by subtraction. The mark makes it cover the operation's fields. It detects mistakes, not malice: the hash is not
 * cryptographic.
 */
export interface Digest {
  /** Unsigned 32 bits. */
  readonly hi: number;
  /** Unsigned 32 bits. */
  readonly lo: number;
}

/** The digest of no heads at all. */
export const emptyDigest: Digest = { hi: 0, lo: 0 };

/** `digest` with one more head: the operation `dot` at `path`, at which the chain of its origin has the mark `mark` (48 bits). */
export function withHead(digest: Digest, path: string, dot: Dot, mark: number): Digest {
  const { hi, lo } = hashOfHead(path, dot, mark);
  return { hi: (digest.hi + hi) >>> 0, lo: (digest.lo + lo) >>> 0 };
}

/** `digest` without a head that it includes. */
export function withoutHead(digest: Digest, path: string, dot: Dot, mark: number): Digest {
  const { hi, lo } = hashOfHead(path, dot, mark);
  return { hi: (digest.hi - hi) >>> 0, lo: (digest.lo - lo) >>> 0 };
}

/** A digest as 16 hexadecimal digits, as it is sent and shown. */
export function formatDigest(digest: Digest): string {
  return digest.hi.toString(16).padStart(8, '0') + digest.lo.toString(16).padStart(8, '0');
}

/**
 * MurmurHash3's word mixing in two lanes of 32 bits that feed each other. All members must compute the same value, so a
 * change of this function is a change of the wire protocol.
 */
function hashOfHead(path: string, dot: Dot, mark: number): Digest {
  const { origin, seq } = dot;
  // The lengths go in first, so that no character can move from one text to the other unnoticed.
  let a = Math.imul(origin.length ^ 0x9e3779b9, 0x85ebca6b);
  let b = Math.imul(path.length ^ 0x7f4a7c15, 0xc2b2ae35);
  // Two UTF-16 units make one word; a unit past the end reads as NaN, which the operators take as 0.
  for (let i = 0; i < origin.length; i += 2) {
    const word = origin.charCodeAt(i) | (origin.charCodeAt(i + 1) << 16);
    a = (Math.imul(rotate13(a ^ scrambleA(word)), 5) + b) | 0;
    b = (Math.imul(rotate17(b ^ scrambleB(word)), 5) + a) | 0;
  }
  for (let i = 0; i < path.length; i += 2) {
    const word = path.charCodeAt(i) | (path.charCodeAt(i + 1) << 16);
    a = (Math.imul(rotate13(a ^ scrambleA(word)), 5) + b) | 0;
    b = (Math.imul(rotate17(b ^ scrambleB(word)), 5) + a) | 0;
  }
  for (const number of [seq, mark]) {
    const low = number | 0;
    const high = Math.floor(number / 0x1_0000_0000) | 0;
    a = (Math.imul(rotate13(a ^ scrambleA(low)), 5) + b) | 0;
    b = (Math.imul(rotate17(b ^ scrambleB(low)), 5) + a) | 0;
    a = (Math.imul(rotate13(a ^ scrambleA(high)), 5) + b) | 0;
    b = (Math.imul(rotate17(b ^ scrambleB(high)), 5) + a) | 0;
  }
  a = avalanche(a);
  b = avalanche((b + a) | 0);
  return { hi: (a + b) >>> 0, lo: b >>> 0 };
}

function rotate13(x: number): number {
  return (x << 13) | (x >>> 19);
}

function rotate17(x: number): number {
  return (x << 17) | (x >>> 15);
}

function scrambleA(word: number): number {
  const k = Math.imul(word, 0xcc9e2d51);
  return Math.imul((k << 15) | (k >>> 17), 0x1b873593);
}

function scrambleB(word: number): number {
  const k = Math.imul(word, 0x239b961b);
  return Math.imul((k << 16) | (k >>> 16), 0xab0e9789);
}

/** Every bit of the input changes every bit of the output with a probability of about one half. */
function avalanche(x: number): number {
  let h = x;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}
