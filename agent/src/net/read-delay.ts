/**
 * How long the bytes of a session may have waited in this host's buffers because the thread was busy. It counts the time since the last
 * read in which the event loop did not wait for events: a later turn would have read the bytes otherwise. In one turn of the loop all
 * bytes were there at its beginning, so that those that are processed last have waited longest.
 */
export class ReadDelay {
  /** The time of the last read, and how long the event loop had waited for events until then. */
  #readMs = performance.now();
  #idleMs = performance.nodeTiming.idleTime;
  /** The delay at the first read of this turn, and when that was. */
  #firstMs = 0;
  #turnMs = 0;
  #isInTurn = false;

  /** Notes a read; returns the longest possible delay of its bytes, in milliseconds. */
  noted(): number {
    const nowMs = performance.now();
    const { idleTime } = performance.nodeTiming;
    if (!this.#isInTurn) {
      this.#firstMs = Math.max(0, nowMs - this.#readMs - (idleTime - this.#idleMs));
      this.#turnMs = nowMs;
      this.#isInTurn = true;
      setImmediate(() => {
        this.#isInTurn = false;
      });
    }
    this.#readMs = nowMs;
    this.#idleMs = idleTime;
    return this.#firstMs + nowMs - this.#turnMs;
  }
}
