/** The blocks of a content that are still to be asked for, first to last; those to be asked for again come before the others. */
export class BlockTodo {
  readonly #count: number;
  readonly #again: number[] = [];
  #next = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** The next one, which is not given out again; undefined when there is none now. */
  take(): number | undefined {
    const again = this.#again.shift();
    if (again !== undefined) return again;
    return this.#next < this.#count ? this.#next++ : undefined;
  }

  /** Block `index` was taken, and did not come or was not what it should be. */
  again(index: number): void {
    this.#again.push(index);
  }
}
