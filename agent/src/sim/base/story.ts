/** What happened in a run, line by line, for a person who looks into a failure. Kept only when somebody will read it. */
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

  /** Adds a line; `what` is not called when nobody reads. */
  tell(who: string, what: () => string): void {
    if (this.#isKept) this.#lines.push(`${this.#nowMs().toFixed(2).padStart(10)} ms  ${who.padEnd(5)} ${what()}`);
  }
}
