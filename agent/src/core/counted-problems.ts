import type { ProblemCode } from '@lockstep/shared';
import { isBelow, parentOf, problemsCountedMax } from '@lockstep/shared';

interface CountedProblem {
  readonly code: ProblemCode;
  readonly isOfApplying: boolean;
  /** The number of the last report of it. */
  readonly report: number;
}

/** Problems of paths that are only counted, one for each path. Each scan reports them once more. */
export class CountedProblems {
  readonly #byPath = new Map<string, CountedProblem>();
  /** How many of them are below each directory: most directories that go have none. */
  readonly #below = new Map<string, number>();
  /** The number of reports so far. */
  reports = 0;

  get size(): number {
    return this.#byPath.size;
  }

  has(path: string, code: ProblemCode): boolean {
    return this.#byPath.get(path)?.code === code;
  }

  add(path: string, code: ProblemCode, isOfApplying: boolean): void {
    this.reports++;
    if (!this.#byPath.has(path)) {
      if (this.size >= problemsCountedMax) return;
      this.#countAbove(path, 1);
    }
    this.#byPath.set(path, { code, isOfApplying, report: this.reports });
  }

  delete(path: string): void {
    if (this.#byPath.delete(path)) this.#countAbove(path, -1);
  }

  /** Removes all that were reported last by the report `upTo` and are over. */
  clear(upTo = this.reports, isOver: (code: ProblemCode, path: string) => boolean = () => true): void {
    for (const [path, { code, report }] of this.#byPath) if (report <= upTo && isOver(code, path)) this.delete(path);
  }

  /** Removes those below a directory that is gone, but not those of applying. */
  clearBelow(directory: string): void {
    if (!this.#below.has(directory)) return;
    for (const [path, { isOfApplying }] of this.#byPath) {
      if (!isOfApplying && isBelow(path, directory)) this.delete(path);
    }
  }

  countsByCode(): Map<ProblemCode, number> {
    const counts = new Map<ProblemCode, number>();
    for (const { code } of this.#byPath.values()) counts.set(code, (counts.get(code) ?? 0) + 1);
    return counts;
  }

  #countAbove(path: string, by: 1 | -1): void {
    for (let directory = parentOf(path); directory !== ''; directory = parentOf(directory)) {
      const count = (this.#below.get(directory) ?? 0) + by;
      if (count === 0) this.#below.delete(directory);
      else this.#below.set(directory, count);
    }
  }
}
