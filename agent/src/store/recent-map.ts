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
    this.#old = this.#young;
    this.#young = new Map();
  }

  delete(key: Key): void {
    this.#young.delete(key);
    this.#old.delete(key);
  }

  clear(): void {
    this.#young.clear();
    this.#old.clear();
  }
}
