/** Files whose last use is remembered: more than most people use in months, and about a megabyte. */
const pathsMax = 10_000;

/** A file that was used, and the number of its last use: they grow with each use. */
export interface NumberedUse {
  readonly path: string;
  readonly number: number;
}

/** The files that were used last, in the order of their last use, and what changed in that order since it was stored. */
export class UseOrder {
  /** In the order of the numbers. */
  readonly #numbers = new Map<string, number>();
  readonly #changed = new Set<string>();
  readonly #forgotten = new Set<string>();
  #last = 0;

  /** `stored`: the order as it was stored, the oldest use first. */
  constructor(stored: readonly NumberedUse[]) {
    for (const { path, number } of stored) {
      this.#numbers.set(path, number);
      this.#last = number;
    }
  }

  /** The file at `path` was used. */
  used(path: string): void {
    this.#numbers.delete(path);
    this.#numbers.set(path, ++this.#last);
    this.#changed.add(path);
    this.#forgotten.delete(path);
    const [oldest] = this.#numbers.keys();
    if (this.#numbers.size <= pathsMax || oldest === undefined) return;
    this.#numbers.delete(oldest);
    this.#changed.delete(oldest);
    this.#forgotten.add(oldest);
  }

  /** The paths, the one that was used last first. */
  newestFirst(): readonly string[] {
    return [...this.#numbers.keys()].reverse();
  }

  /** Returns the uses to store and the paths to remove since the last call. */
  takeChanges(): { readonly used: readonly NumberedUse[]; readonly forgotten: readonly string[] } {
    const used = [...this.#changed].map((path) => ({ path, number: this.#numbers.get(path) ?? 0 }));
    const forgotten = [...this.#forgotten];
    this.#changed.clear();
    this.#forgotten.clear();
    return { used, forgotten };
  }
}
