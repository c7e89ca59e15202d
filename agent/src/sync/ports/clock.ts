/** Time and randomness. All of it comes through this port, so that the simulator controls it. */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. May jump. */
  wallMs(): number;
  /** Monotonic clock, milliseconds from an arbitrary start. Never goes back. */
  monotonicMs(): number;
  /** The minute of the day that the machine's clock shows, from 0 to 1,439, in its time zone. May jump. */
  localMinute(): number;
  /** Calls `run` once after `delayMs`. */
  after(delayMs: number, run: () => void): Timer;
  /** A random number from 0 (inclusive) to 1 (exclusive). */
  random(): number;
}

export interface Timer {
  cancel(): void;
}

/** A boot of the machine. */
export interface Boot {
  readonly id: string;
  /** When it began according to the present clock, in milliseconds since the epoch: setting the clock moves it. */
  readonly beganMs: number;
}
