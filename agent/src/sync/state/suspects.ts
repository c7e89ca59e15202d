/** More are not remembered: the scrub finds the rest. */
const suspectsMax = 1_000;

/** Paths whose bytes turned out not to be what their rows of `disk` say, and are to be read whole for a verdict. */
export class Suspects {
  readonly #paths = new Set<string>();
  #wake: () => void = () => undefined;

  /** Sets who is called after a path was added. */
  onAdded(wake: () => void): void {
    this.#wake = wake;
  }

  add(path: string): void {
    if (this.#paths.size >= suspectsMax) return;
    this.#paths.add(path);
    this.#wake();
  }

  /** One of them, which is forgotten by this. */
  take(): string | undefined {
    for (const path of this.#paths) {
      this.#paths.delete(path);
      return path;
    }
    return undefined;
  }
}
