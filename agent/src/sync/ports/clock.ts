/** Everything that is not deterministic comes through here, so that the simulator can decide it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. May jump. */
  wallMs(): number;
  /** Never goes back; milliseconds from an arbitrary start. */
  monotonicMs(): number;
  /** Calls `run` once after `delayMs`. */
  after(delayMs: number, run: () => void): Timer;
  /** From 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export interface Timer {
  cancel(): void;
}
