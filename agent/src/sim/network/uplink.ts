/** The line on which one member sends to all others, one message after the other. */
export class Uplink {
  /** May be changed at any time; messages that were sent before keep their times. */
  bytesPerMs: number;
  #freeAtMs = 0;

  constructor(bytesPerMs: number) {
    this.bytesPerMs = bytesPerMs;
  }

  /** Queues a message. Returns the time at which it has left. */
  send(bytes: number, nowMs: number): number {
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs) + bytes / this.bytesPerMs;
    return this.#freeAtMs;
  }
}
