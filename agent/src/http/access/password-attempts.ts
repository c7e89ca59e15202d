/** The longest pause after a wrong password. */
const pauseMsMax = 60_000;

/** Limits how fast passwords can be tried: one at a time, and after each wrong one a pause that grows. */
export class PasswordAttempts {
  readonly #nowMs: () => number;
  #failures = 0;
  #nextAt = 0;
  #isBusy = false;

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Checks a password. Returns the seconds to wait if it may not be tried yet; the link of a command works all the time. */
  async try(check: () => Promise<boolean>): Promise<{ readonly isRight: boolean } | { readonly waitS: number }> {
    const waitMs = this.#nextAt - this.#nowMs();
    if (this.#isBusy || waitMs > 0) return { waitS: Math.max(1, Math.ceil(waitMs / 1_000)) };
    this.#isBusy = true;
    try {
      const isRight = await check();
      this.#failures = isRight ? 0 : this.#failures + 1;
      if (!isRight) this.#nextAt = this.#nowMs() + Math.min(pauseMsMax, 1_000 * 2 ** (this.#failures - 1));
      return { isRight };
    } finally {
      this.#isBusy = false;
    }
  }
}
