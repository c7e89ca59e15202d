/** The unit in which a file system may copy what a write changes: XFS does so in 128 KiB, btrfs in less. */
const unitBytes = 131_072;

/** The blocks that a draft shares with the version that it was copied from, so that they take no room of their own. */
export class SharedBlocks {
  readonly #isOwn: Uint8Array;
  #end: number;
  #bytes: number;

  /** `size`: of the version, all of which is shared at first. */
  constructor(size: number) {
    this.#isOwn = new Uint8Array(Math.ceil(size / unitBytes));
    this.#end = size;
    this.#bytes = size;
  }

  /** The bytes that take no room of their own. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes that take room of their own after a write from `start` to `end`, exclusive, and did not before. */
  bytesIn(start: number, end: number): number {
    let bytes = 0;
    for (const unit of this.#units(start, end)) bytes += this.#lengthOf(unit);
    return bytes;
  }

  written(start: number, end: number): void {
    for (const unit of this.#units(start, end)) {
      this.#bytes -= this.#lengthOf(unit);
      this.#isOwn[unit] = 1;
    }
  }

  truncate(size: number): void {
    if (size >= this.#end) return;
    const cut = [...this.#units(size, this.#end)];
    for (const unit of cut) this.#bytes -= this.#lengthOf(unit);
    this.#end = size;
    for (const unit of cut) this.#bytes += this.#lengthOf(unit);
  }

  /** The shared units of a range. */
  *#units(start: number, end: number): Generator<number> {
    const last = Math.min(end, this.#end);
    for (let unit = Math.floor(start / unitBytes); unit * unitBytes < last && start < last; unit++) {
      if (this.#isOwn[unit] === 0) yield unit;
    }
  }

  #lengthOf(unit: number): number {
    return Math.max(0, Math.min(this.#end, (unit + 1) * unitBytes) - unit * unitBytes);
  }
}
