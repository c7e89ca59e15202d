/** The window over which the rate is taken. */
const windowMs = 5_000;
/** The window of `pace` is longer until it has this many amounts: on a slow line blocks of 1 MiB are many seconds apart. */
const amountsMin = 4;
/** The longest such window. */
const keptMs = 60_000;
/** Without an amount for this time nothing moves any more: a block of 1 MiB takes as long at 50 kB/s. */
export const stalledAfterMs = 20_000;
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
  #slices: Slice[] = [];
  #total = 0;
  /** The first amount after a pause of `windowMs`, and after one of `stalledAfterMs`. */
  #firstMs: number | undefined;
  #resumedMs: number | undefined;
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
    if (last !== undefined && nowMs - last.fromMs > stalledAfterMs) {
      this.#slices = [];
      this.#resumedMs = nowMs;
    }
    this.#slices.push({ fromMs: nowMs, amount });
    this.#forget(nowMs);
  }

  /** Mean over the last seconds; 0 when nothing was added in them. */
  perSecond(nowMs: number): number {
    const sum = this.#slices.reduce(
      (amount, slice) => amount + (nowMs - slice.fromMs > windowMs ? 0 : slice.amount),
      0,
    );
    if (sum === 0 || this.#firstMs === undefined) return 0;
    const spanMs = Math.min(windowMs, Math.max(spanMsMin, nowMs - this.#firstMs));
    return (sum * 1_000) / spanMs;
  }

  /**
   * The rate of something that began at `sinceMs` and is not complete: the mean over the last seconds, or over as many amounts as a slow
   * line needs. 0 when nothing was added for `stalledAfterMs`.
   */
  pace(nowMs: number, sinceMs: number): number {
    if (this.#lastMs === undefined || nowMs - this.#lastMs >= stalledAfterMs) return 0;
    const recent = this.#slices.filter(({ fromMs }) => nowMs - fromMs < windowMs).length;
    // From an earlier amount on, so that whole gaps count; a long pause does not.
    const from = Math.min(this.#slices.length - recent, this.#slices.length - amountsMin);
    const amounts = this.#slices.slice(Math.max(0, from));
    const beganMs = Math.max(sinceMs, (this.#resumedMs ?? sinceMs) - spanMsMin);
    // The meter may count what was before, too: then the time of that counts as well.
    const startMs = this.#slices[from - 1]?.fromMs ?? Math.min(beganMs, amounts[0]?.fromMs ?? beganMs);
    const hasPaused = (amounts[0]?.fromMs ?? startMs) - startMs > windowMs;
    if (recent > amountsMin && hasPaused) return this.perSecond(nowMs);
    const sum = amounts.reduce((total, { amount }) => total + amount, 0);
    return (sum * 1_000) / Math.max(spanMsMin, nowMs - startMs);
  }

  #forget(nowMs: number): void {
    while (this.#slices[0] !== undefined && nowMs - this.#slices[0].fromMs > keptMs) this.#slices.shift();
  }
}
