/** The window over which the rate is taken. */
const windowMs = 5_000;
/** Amounts within this time are stored as one. */
const sliceMs = 250;
/** The least time to divide by: an amount from the last millisecond has no meaningful rate. */
const spanMsMin = 1_000;

interface Slice {
  readonly fromMs: number;
  amount: number;
}

/** Adds up amounts and gives their current rate per second. Times are those of a monotonic clock. */
export class RateMeter {
  readonly #slices: Slice[] = [];
  #total = 0;
  #firstMs: number | undefined;
  #lastMs: number | undefined;

  /** The sum of all amounts. */
  get total(): number {
    return this.#total;
  }

  /** The time of the last amount. */
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
    // After a pause the rate counts from the first new amount, so that the pause does not lower it.
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
