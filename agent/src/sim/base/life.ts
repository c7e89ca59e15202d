/** Thrown out of every port of a crashed agent, so that whatever it was doing goes no further. */
export class CrashedError extends Error {
  constructor() {
    super('this agent has crashed');
    this.name = 'CrashedError';
  }
}

/**
 * One life of an agent's process, from its start to its end. Every effect an agent has on the world asks here first. After a crash no
 * effect happens, no promise of a port settles and no timer fires.
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

  /** How many effects this life has had. */
  get effects(): number {
    return this.#effects;
  }

  /** Call before all that an agent does: throws once its life has ended. */
  check(): void {
    if (!this.#alive) throw new CrashedError();
  }

  /** Call before each effect: a crash that was armed happens between two effects. */
  effect(): void {
    this.check();
    if (this.#effects >= this.#lastEffect) {
      this.end();
      this.#onCrash();
      throw new CrashedError();
    }
    this.#effects += 1;
  }

  /** Arms a crash: `count` more effects happen, and the next one does not. */
  crashAfterEffects(count: number): void {
    this.#lastEffect = this.#effects + count;
  }

  /** The process ends now. */
  end(): void {
    this.#alive = false;
  }
}
