import { LRUCache } from 'lru-cache';

const absent = Symbol('absent');
/** The key that separates the entries used since the last call of `age` from all others. */
const mark = Symbol('mark');

/** A map that keeps the `max` entries used last. A value of null, such as that of a row known to be missing, is kept too. */
export class RecentMap<Key extends string | number, Value extends object | true | null> {
  readonly #entries: LRUCache<Key | typeof mark, NonNullable<Value> | typeof absent>;

  constructor(max: number) {
    // A cache with `max` reserves room for all its entries when it is made: 3 ms and half a megabyte for 20,000. This one grows.
    this.#entries = new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
  }

  get(key: Key): Value | undefined {
    const kept = this.#entries.get(key);
    return kept === absent ? (null as Value) : kept;
  }

  set(key: Key, value: Value): void {
    this.#entries.set(key, value ?? absent);
  }

  /** True if it had the key. */
  delete(key: Key): boolean {
    return this.#entries.delete(key);
  }

  clear(): void {
    this.#entries.clear();
  }

  /** Drops the entries that were not used since the last call. */
  age(): void {
    // Without the mark, all that is left was used after it.
    while (this.#entries.has(mark)) this.#entries.pop();
    this.#entries.set(mark, absent);
  }
}
