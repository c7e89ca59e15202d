/** The longest pause after a wrong secret. */
const pauseMsMax = 60_000;

/** Limits the rate of guesses at a secret: each wrong one doubles the pause, up to a minute. */
export class Attempts {
  readonly #nowMs: () => number;
  #failures = 0;
  #nextAt = 0;
  #isBusy = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** The seconds until the next attempt; undefined if it may be made now. */
  waitS(): number | undefined {
    const waitMs = this.#nextAt - this.#nowMs();
    return this.#isBusy || waitMs > 0 ? Math.max(1, Math.ceil(waitMs / 1_000)) : undefined;
  }

  /** Records an attempt. */
  add(isRight: boolean): void {
    this.#failures = isRight ? 0 : this.#failures + 1;
    if (!isRight) this.#nextAt = this.#nowMs() + Math.min(pauseMsMax, 1_000 * 2 ** (this.#failures - 1));
  }

  /** Makes an attempt whose check takes a while, one at a time. Returns the seconds to wait if it may not be made yet. */
  async try(check: () => Promise<boolean>): Promise<{ readonly isRight: boolean } | { readonly waitS: number }> {
    const waitS = this.waitS();
    if (waitS !== undefined) return { waitS };
    this.#isBusy = true;
    try {
      const isRight = await check();
      this.add(isRight);
      return { isRight };
    } finally {
      this.#isBusy = false;
    }
  }
}
