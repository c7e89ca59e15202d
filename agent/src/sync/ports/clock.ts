/** Time and randomness. All of it comes through this port, so that the simulator controls it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. May jump. */
  wallMs(): number;
  /** Monotonic clock, milliseconds from an arbitrary start. Never goes back. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`. */
  after(delayMs: number, run: () => void): Timer;
  /** A random number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export interface Timer {
  cancel(): void;
}
