/** A rate is taken over so much time. */
const windowMs = 5_000;
/** What comes within this time is remembered as one. */
const sliceMs = 250;
/** What has just begun has no rate of a thousandth of a second. */
const spanMsMin = 1_000;

interface Slice {
  readonly fromMs: number;
  amount: number;
}

/** Adds up what passes by, and says how much of it passes in a second now. Times are of a clock that never goes back. */
export class RateMeter {
  readonly #slices: Slice[] = [];
  #total = 0;
  #firstMs: number | undefined;
  #lastMs: number | undefined;

  /** Everything that was ever added. */
  get total(): number {
    return this.#total;
  }

  /** When something was last added. */
  get lastMs(): number | undefined {
    return this.#lastMs;
  }

  add(amount: number, nowMs: number): void {
    if (amount === 0) return;
    this.#total += amount;
    this.#lastMs = nowMs;
    const last = this.#slices.at(-1);
    if (last !== undefined && nowMs - last.fromMs < sliceMs) {
      last.amount += amount;
      return;
    }
    // After a pause the rate is that of what goes on now, not thinned by the time before.
    if (last === undefined || nowMs - last.fromMs > windowMs) this.#firstMs = nowMs;
    this.#slices.push({ fromMs: nowMs, amount });
    this.#forget(nowMs);
  }

  /** Mean over the last seconds; 0 when nothing was added in them. */
  perSecond(nowMs: number): number {
    this.#forget(nowMs);
    const sum = this.#slices.reduce((amount, slice) => amount + slice.amount, 0);
    if (sum === 0 || this.#firstMs === undefined) return 0;
    const spanMs = Math.min(windowMs, Math.max(spanMsMin, nowMs - this.#firstMs));
    return (sum * 1_000) / spanMs;
  }

  #forget(nowMs: number): void {
    while (this.#slices[0] !== undefined && nowMs - this.#slices[0].fromMs > windowMs) this.#slices.shift();
  }
}
