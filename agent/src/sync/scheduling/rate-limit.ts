import type { Clock, Timer } from '../ports/clock.ts';

/** A limit that delayed something within this time still counts as one that does: between two blocks nothing waits for a moment. */
const delayShownMs = 2_000;

/**
 * A limit of bytes per second (the generic cell rate algorithm of ITU-T I.371, without a burst). Bytes that are taken delay those after
 * them, so that the first bytes after a pause go at once. Those that wait go in the order in which they came.
 */
export class RateLimit {
  readonly #clock: Clock;
  #bytesPerSecond: number;
  /** The time from which on the next bytes may go, by the monotonic clock. */
  #freeMs = 0;
  #waiting: { readonly bytes: number; readonly go: () => void; readonly isOver: () => boolean }[] = [];
  #timer: Timer | undefined;
  /** The end of the last delay, by the monotonic clock. */
  #delayedMs = Number.NEGATIVE_INFINITY;

  /** `bytesPerSecond`: above 0; infinite for none. */
  constructor(clock: Clock, bytesPerSecond = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#bytesPerSecond = bytesPerSecond;
  }

  /** Puts another limit in force, also for what waits. */
  limit(bytesPerSecond: number): void {
    const nowMs = this.#clock.monotonicMs();
    const owedBytes = (Math.max(0, this.#freeMs - nowMs) / 1_000) * this.#bytesPerSecond;
    this.#bytesPerSecond = bytesPerSecond;
    this.#freeMs = nowMs;
    if (Number.isFinite(owedBytes)) this.#spend(owedBytes);
    this.#next();
  }

  /** True while something waits because of this limit, and for two seconds afterwards, unless there is no limit any more. */
  get isDelaying(): boolean {
    if (this.#bytesPerSecond === Number.POSITIVE_INFINITY) return false;
    return this.#waiting.length > 0 || this.#clock.monotonicMs() - this.#delayedMs < delayShownMs;
  }

  /** Takes `bytes` if they may go now; otherwise returns false. */
  tryTake(bytes: number): boolean {
    if (this.#waiting.length > 0 || this.#freeMs > this.#clock.monotonicMs()) return false;
    this.#spend(bytes);
    return true;
  }

  /**
   * Resolves when `bytes` may go, and takes them. With 0 bytes it only waits for its turn. `isOver`: they will not go any more, so that they
   * delay nothing.
   */
  take(bytes: number, isOver: () => boolean = () => false): Promise<void> {
    if (this.tryTake(bytes)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.push({ bytes, go: resolve, isOver });
      this.#next();
    });
  }

  #spend(bytes: number): void {
    this.#freeMs = Math.max(this.#freeMs, this.#clock.monotonicMs()) + (bytes / this.#bytesPerSecond) * 1_000;
  }

  /** Lets all go that may, and sets the timer for the first of the others. */
  #next(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    while (this.#waiting.length > 0) {
      const leftMs = this.#freeMs - this.#clock.monotonicMs();
      if (leftMs > 0) {
        this.#timer = this.#clock.after(leftMs, () => this.#next());
        return;
      }
      const first = this.#waiting.shift();
      if (first === undefined) return;
      if (!first.isOver()) this.#spend(first.bytes);
      this.#delayedMs = this.#clock.monotonicMs();
      first.go();
    }
  }
}
