/** The time without attempts after a failure, in milliseconds: long against the start of a program, which a useless attempt costs. */
const pauseMs = 60_000;

/** Whether syncfs(2) may be tried. A machine may lack the program for it for good, or the memory to start it for a moment. */
export class SyncAttempts {
  #pausedUntilMs: number;

  /** `isSupported`: whether this kind of system has the call at all. */
  constructor(isSupported: boolean) {
    this.#pausedUntilMs = isSupported ? 0 : Number.POSITIVE_INFINITY;
  }

  /** `nowMs`: monotonic time, as for `ended`. */
  mayBegin(nowMs: number): boolean {
    return nowMs >= this.#pausedUntilMs;
  }

  ended(isDone: boolean, nowMs: number): void {
    if (!isDone) this.#pausedUntilMs = Math.max(this.#pausedUntilMs, nowMs + pauseMs);
  }
}
