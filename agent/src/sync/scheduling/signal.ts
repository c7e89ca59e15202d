/** A recurring event and its listeners. Listeners are called in the order in which they subscribed. */
export class Signal<Fact = void> {
  readonly #listeners = new Set<(fact: Fact) => void>();

  /** Calls `listener` each time, until the returned function is called. */
  on(listener: (fact: Fact) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  publish(fact: Fact): void {
    for (const listener of this.#listeners) listener(fact);
  }
}
