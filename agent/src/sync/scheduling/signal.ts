/** Something that happens again and again, and those who want to know. They are told in the order in which they asked. */
export class Signal<Fact = void> {
  readonly #listeners = new Set<(fact: Fact) => void>();

  /** Calls `listener` each time, until the returned function is called. */
  on(listener: (fact: Fact) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(fact: Fact): void {
    for (const listener of this.#listeners) listener(fact);
  }
}
