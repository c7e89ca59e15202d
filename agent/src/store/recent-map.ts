/**
 * The least number of rows that each cache of the journal keeps: somewhat more than the paths of a renamed directory of 10,000 entries, the
 * old and the new ones. Such a rename reads each row at each of its steps. In a cache that is smaller than one round, none is found again.
 */
export const rowsKeptMin = 24_576;

/**
 * A map that keeps the entries used last: at least `min` of them and at most twice as many. It consists of two generations. When the young
 * one is full, the old one is dropped and the young one takes its place; an entry that is read from the old one is young again. Unlike a
 * list in order of use, it costs one look-up for each call.
 */
export class RecentMap<Key, Value extends object | null> {
  readonly #min: number;
  #young = new Map<Key, Value>();
  #old = new Map<Key, Value>();

  constructor(min: number) {
    this.#min = min;
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key);
    if (young !== undefined) return young;
    const old = this.#old.get(key);
    if (old !== undefined) this.set(key, old);
    return old;
  }

  set(key: Key, value: Value): void {
    this.#young.set(key, value);
    if (this.#young.size < this.#min) return;
    this.age();
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Drops the entries that were not used since the last call. */
  age(): void {
    this.#old = this.#young;
    this.#young = new Map();
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
