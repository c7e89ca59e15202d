/** Seeded random numbers (sfc32): the only source of randomness in a run, so that a seed repeats it exactly. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number, stream = 0) {
    this.#a = seed >>> 0;
    this.#b = Math.floor(seed / 2 ** 32) >>> 0;
    this.#c = stream >>> 0;
    // The first outputs of neighbouring seeds are similar.
    for (let round = 0; round < 12; round++) this.uint32();
  }

  /** From 0 to 2^32 - 1. */
  uint32(): number {
    const sum = (((this.#a + this.#b) | 0) + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (this.#c << 21) | (this.#c >>> 11);
    this.#c = (this.#c + sum) | 0;
    return sum >>> 0;
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  unit(): number {
    return this.uint32() / 2 ** 32;
  }

  /** An integer from 0 to `below` - 1. */
  below(below: number): number {
    return Math.floor(this.unit() * below);
  }

  /** A fraction from `from` (inclusive) to `to` (exclusive). */
  between(from: number, to: number): number {
    return from + this.unit() * (to - from);
  }

  /** True with this probability. */
  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  /** An element of a non-empty list. */
  pick<T>(list: readonly T[]): T {
    const chosen = list[this.below(list.length)];
    if (chosen === undefined) throw new RangeError('picked from an empty list');
    return chosen;
  }

  /** One of the names, with a probability in proportion to its weight. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let point = this.unit() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) {
      point -= weight;
      if (point < 0) return name;
    }
    return entries.filter(([, weight]) => weight > 0).at(-1)?.[0] ?? this.pick(entries)[0];
  }

  /** A shuffled copy of the list. */
  shuffled<T>(list: readonly T[]): T[] {
    return list
      .map((item) => ({ item, key: this.uint32() }))
      .sort((x, y) => x.key - y.key)
      .map(({ item }) => item);
  }

  /** Random characters of the base32 alphabet of member ids. */
  base32(length: number): string {
    const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';
    let text = '';
    for (let i = 0; i < length; i++) text += alphabet[this.below(32)];
    return text;
  }

  /** An independent generator: draws from one do not shift those from the other. */
  fork(): Random {
    return new Random(this.uint32(), this.uint32());
  }
}
