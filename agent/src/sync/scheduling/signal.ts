/** Those who want to know that there is more to read. A wake-up carries nothing: readers ask for what they have not seen. */
export class Signal {
  readonly #listeners = new Set<() => void>();

  /** Calls `wake` each time, until the returned function is called. */
  on(wake: () => void): () => void {
    this.#listeners.add(wake);
    return () => this.#listeners.delete(wake);
  }

  all(): void {
    for (const listener of this.#listeners) listener();
  }
}
