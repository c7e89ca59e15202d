/** Such a file is tried again so much later: its directory is another disk or write-protected, which a person must change. */
const stuckMs = 3_600_000;

/** The files that could not be removed, or put into the folder, in the last hour. */
export class StuckFiles {
  /** When each may be tried again, the earliest first. */
  readonly #untilMs = new Map<string, number>();

  /** It was tried at `nowMs`, a monotonic time, and that failed. */
  add(path: string, nowMs: number): void {
    this.#forgetBefore(nowMs);
    this.#untilMs.delete(path);
    this.#untilMs.set(path, nowMs + stuckMs);
  }

  /** True while the file need not be tried. */
  has(path: string, nowMs: number): boolean {
    this.#forgetBefore(nowMs);
    return this.#untilMs.has(path);
  }

  #forgetBefore(nowMs: number): void {
    for (const [path, untilMs] of this.#untilMs) {
      if (untilMs > nowMs) return;
      this.#untilMs.delete(path);
    }
  }
}
