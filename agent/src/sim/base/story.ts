/** The log of a run, for the analysis of a failure. It is only kept on request. */
export class Story {
  readonly #lines: string[] = [];
  readonly #isKept: boolean;
  readonly #nowMs: () => number;

  constructor(isKept: boolean, nowMs: () => number) {
    this.#isKept = isKept;
    this.#nowMs = nowMs;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Adds a line. `what` is only called if lines are kept. */
  add(who: string, what: () => string): void {
    if (this.#isKept) this.#lines.push(`${this.#nowMs().toFixed(2).padStart(10)} ms  ${who.padEnd(5)} ${what()}`);
  }
}
