import { blockBytes } from '@lockstep/shared';

/** Samples of a shorter time are joined: blocks that were read from the socket together say nothing of the line. */
const sampleMsMin = 20;
/**
 * A sample of this length counts for 63 % of the rate; one in which a block comes at the rate so far, if that is longer: behind a limit a
 * block comes at once, after a long time in which nothing does.
 */
const meanMsMin = 1_000;

/**
 * The rate at which a member sends what was requested from it: a moving average over the time in which it had something to send. So a member
 * that is asked for little does not look slow. Times are those of a monotonic clock.
 */
export class DeliveryRate {
  #bytesPerMs: number | undefined;
  /** The time that was measured so far. The first samples have a weight by their share of it. */
  #measuredMs = 0;
  /** Begin of the present sample; undefined while nothing is requested. */
  #sinceMs: number | undefined;
  #bytes = 0;
  #movedMs = 0;

  /** Undefined while nothing was measured. */
  get bytesPerMs(): number | undefined {
    return this.#bytesPerMs;
  }

  /** Notes that something was requested. If nothing was before, the first bytes can come a round trip later. */
  asked(nowMs: number, roundTripMs: number): void {
    if (this.#sinceMs !== undefined) return;
    this.#sinceMs = nowMs + roundTripMs;
    this.#movedMs = this.#sinceMs;
    this.#bytes = 0;
  }

  /** Notes the bytes that came since the last call, which may be none. `isIdle`: nothing more is requested. */
  came(bytes: number, nowMs: number, isIdle: boolean): void {
    if (this.#sinceMs === undefined) return;
    this.#bytes += bytes;
    if (bytes > 0) this.#movedMs = Math.max(this.#movedMs, nowMs);
    const elapsedMs = nowMs - this.#sinceMs;
    if (elapsedMs >= sampleMsMin || (isIdle && this.#bytes > 0)) {
      this.#sample(Math.max(1, elapsedMs));
      this.#sinceMs = nowMs;
      this.#bytes = 0;
    }
    if (isIdle) this.#sinceMs = undefined;
  }

  /** How long nothing has come of what is requested. */
  silentMs(nowMs: number): number {
    return this.#sinceMs === undefined ? 0 : Math.max(0, nowMs - this.#movedMs);
  }

  /** Leaves out the time in which this member itself did not run, and read nothing. */
  skip(ms: number): void {
    if (this.#sinceMs === undefined) return;
    this.#sinceMs += ms;
    this.#movedMs += ms;
  }

  #sample(ms: number): void {
    const rate = this.#bytes / ms;
    this.#measuredMs += ms;
    const meanMs = Math.max(meanMsMin, blockBytes / (this.#bytesPerMs ?? rate));
    const weight = Math.max(ms / this.#measuredMs, 1 - Math.exp(-ms / meanMs));
    this.#bytesPerMs = (this.#bytesPerMs ?? rate) * (1 - weight) + rate * weight;
  }
}
