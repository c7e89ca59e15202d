/** Thrown by every port of a crashed agent, so that its work stops. */
export class CrashedError extends Error {
  constructor() {
    super('this agent has crashed');
    this.name = 'CrashedError';
  }
}

/**
 * One life of an agent's process, from start to end. Every port calls it before an effect. After a crash no effect happens, no promise of a
 * port settles and no timer fires.
 */
export class Life {
  #alive = true;
  #effects = 0;
  #lastEffect = Number.POSITIVE_INFINITY;
  readonly #onCrash: () => void;

  constructor(onCrash: () => void = () => {}) {
    this.#onCrash = onCrash;
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** The number of effects in this life. */
  get effects(): number {
    return this.#effects;
  }

  /** Call before every action of an agent: throws once its life has ended. */
  check(): void {
    if (!this.#alive) throw new CrashedError();
  }

  /** Call before each effect: an armed crash happens between two effects. */
  effect(): void {
    this.check();
    if (this.#effects >= this.#lastEffect) {
      this.end();
      this.#onCrash();
      throw new CrashedError();
    }
    this.#effects += 1;
  }

  /** Arms a crash: `count` more effects happen, the next one does not. */
  crashAfterEffects(count: number): void {
    this.#lastEffect = this.#effects + count;
  }

  /** Ends the process. */
  end(): void {
    this.#alive = false;
  }
}
