/** Something outside of React that views follow with `useSyncExternalStore`: a state, and who is told when there is a new one. */
export abstract class Store<State> {
  #state: State;
  readonly #listeners = new Set<() => void>();

  constructor(initial: State) {
    this.#state = initial;
  }

  readonly get = (): State => this.#state;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.started();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stopped();
    };
  };

  protected get isFollowed(): boolean {
    return this.#listeners.size > 0;
  }

  protected set(state: State): void {
    this.#state = state;
    for (const listener of this.#listeners) listener();
  }

  /** Somebody follows it, after a time when nobody did. */
  protected abstract started(): void;

  /** Nobody follows it any more. */
  protected abstract stopped(): void;
}
