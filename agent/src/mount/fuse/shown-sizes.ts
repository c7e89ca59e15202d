/** The kernel uses a size for one second, and longer by the time that its program waits for a processor. */
const believedMs = 3_000;

/**
 * The sizes of files that the kernel was told a moment ago. It ends a read at such a size, whatever the file has by then: a longer version
 * would be cut there.
 */
export class ShownSizes {
  readonly #nowMs: () => number;
  #recent = new Map<string, number>();
  #older = new Map<string, number>();
  #sinceMs = 0;

  constructor(nowMs = (): number => performance.now()) {
    this.#nowMs = nowMs;
  }

  show(path: string, size: number): void {
    this.#forgetOld();
    this.#recent.set(path, size);
  }

  /** The kernel has another size of its own, or none. */
  forget(path: string): void {
    this.#recent.delete(path);
    this.#older.delete(path);
  }

  /** Whether the kernel may take the file for one of another size. */
  isOther(path: string, size: number): boolean {
    this.#forgetOld();
    const shown = this.#recent.get(path) ?? this.#older.get(path);
    return shown !== undefined && shown !== size;
  }

  #forgetOld(): void {
    const passedMs = this.#nowMs() - this.#sinceMs;
    if (passedMs < believedMs) return;
    this.#older = passedMs < 2 * believedMs ? this.#recent : new Map();
    this.#recent = new Map();
    this.#sinceMs = this.#nowMs();
  }
}
