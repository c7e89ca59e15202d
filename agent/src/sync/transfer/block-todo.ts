/** The blocks of a content that must still be requested, in order; those to be requested again come first. */
export class BlockTodo {
  readonly #count: number;
  readonly #skipped = new Set<number>();
  readonly #again: number[] = [];
  #next = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** Leaves out blocks that need not be requested, unless they are put back. */
  skip(indices: Iterable<number>): void {
    for (const index of indices) this.#skipped.add(index);
  }

  /** Takes the next block; undefined if there is none now. */
  take(): number | undefined {
    const again = this.#again.shift();
    if (again !== undefined) return again;
    while (this.#skipped.has(this.#next)) this.#next++;
    return this.#next < this.#count ? this.#next++ : undefined;
  }

  /** Puts back block `index`, which was taken or skipped, and did not arrive or was wrong. */
  again(index: number): void {
    this.#again.push(index);
  }
}
