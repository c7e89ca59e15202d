/** The shortest window over which the rate is taken. */
const windowMs = 5_000;
/** The window is longer until it has this many arrivals: on a slow line blocks of 1 MiB arrive many seconds apart. */
const arrivalsMin = 4;
/** The longest window. */
const keptMs = 60_000;
/** After this time without an arrival the progress has stalled: such a block takes as long at 50 kB/s. */
const stalledAfterMs = 20_000;

/** The progress of a member at one moment. */
export interface ArrivalSample {
  /** Bytes of the newest contents that are in place or staged. */
  readonly thereBytes: number;
  /** Bytes of the contents that the member itself journaled since the start: they did not arrive. */
  readonly ownBytes: number;
}

interface Moment {
  readonly atMs: number;
  /** The sum of all arrivals so far. */
  readonly arrived: number;
}

/** The rate at which the bytes that a member lacks arrive, from one sample a second. Times are those of a monotonic clock. */
export class ProgressRate {
  #moments: Moment[] = [];
  #last: ArrivalSample | undefined;

  /** Notes the present progress. */
  note(sample: ArrivalSample, nowMs: number): void {
    const { thereBytes, ownBytes } = this.#last ?? sample;
    // Deletes and new versions also make it fewer: only what was gained arrived.
    const gained = Math.max(0, sample.thereBytes - thereBytes - (sample.ownBytes - ownBytes));
    this.#last = sample;
    // After a pause the rate counts from the first new arrival, so that the pause does not lower it.
    if (gained > 0 && this.#hasStalled()) this.#moments = this.#moments.slice(-1);
    this.#moments.push({ atMs: nowMs, arrived: (this.#moments.at(-1)?.arrived ?? 0) + gained });
    this.#moments = this.#moments.filter(({ atMs }) => nowMs - atMs <= keptMs);
  }

  /** Notes that nothing is missing: the next rate counts from the next sample on. */
  rest(): void {
    this.#moments = [];
    this.#last = undefined;
  }

  /** Bytes per second at the last sample. 0 if the progress has stalled, undefined while it is not known yet. */
  perSecond(): number | undefined {
    const now = this.#moments.at(-1);
    if (now === undefined) return undefined;
    if (this.#hasStalled()) return 0;
    const from = this.#before(windowMs);
    const start = (from && this.#arrivalsSince(from) >= arrivalsMin ? from : this.#beforeArrivals()) ?? now;
    const spanMs = now.atMs - start.atMs;
    return spanMs < windowMs || now.arrived === start.arrived
      ? undefined
      : ((now.arrived - start.arrived) * 1_000) / spanMs;
  }

  /** True if there was no arrival for `stalledAfterMs` before the last sample. */
  #hasStalled(): boolean {
    const now = this.#moments.at(-1);
    return now !== undefined && this.#before(stalledAfterMs)?.arrived === now.arrived;
  }

  /** The last moment that is at least `ms` older than the last sample. */
  #before(ms: number): Moment | undefined {
    const now = this.#moments.at(-1);
    return now && this.#moments.findLast(({ atMs }) => now.atMs - atMs >= ms);
  }

  #arrivalsSince({ atMs }: Moment): number {
    return this.#moments.filter((moment, index) => moment.atMs > atMs && this.#isArrival(index)).length;
  }

  /** The moment of the last arrival with `arrivalsMin` arrivals after it, so that whole gaps count; or the first moment. */
  #beforeArrivals(): Moment | undefined {
    let arrivals = 0;
    for (let index = this.#moments.length - 1; index > 0; index--) {
      if (this.#isArrival(index)) arrivals++;
      if (arrivals > arrivalsMin) return this.#moments[index];
    }
    return this.#moments[0];
  }

  #isArrival(index: number): boolean {
    return (this.#moments[index]?.arrived ?? 0) > (this.#moments[index - 1]?.arrived ?? 0);
  }
}
