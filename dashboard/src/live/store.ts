/** A state outside of React that views follow with `useSyncExternalStore`, and its listeners. */
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

  /** Called when the first listener subscribes. */
  protected abstract started(): void;

  /** Called when the last listener unsubscribes. */
  protected abstract stopped(): void;
}
