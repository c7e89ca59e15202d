import type { Problem, ProblemCode } from '@lockstep/shared';
import { isBelow, isGrave, problemsMax } from '@lockstep/shared';
import type { Clock } from '../ports/clock.ts';

/** Problems that stop a whole member, the worst first. All others concern one path or one other member. */
const gravest: readonly ProblemCode[] = [
  'folder-missing',
  'state-unusable',
  'folder-stalled',
  'disk-full',
  'member-refused',
  'digest-mismatch',
];

interface Subject {
  readonly path?: string | undefined;
  readonly member?: string | undefined;
}

/** The present problems: one entry for each code and subject. */
export class Problems {
  readonly #clock: Clock;
  readonly #appeared: (problem: Problem) => void;
  readonly #problems = new Map<string, Problem>();
  /** Expiry times of problems that no loop withdraws, by the monotonic clock. */
  readonly #lastsUntilMs = new Map<string, number>();
  #beyondMax = 0;

  constructor(clock: Clock, appeared: (problem: Problem) => void) {
    this.#clock = clock;
    this.#appeared = appeared;
  }

  /**
   * Adds a problem; a known one keeps its time of first appearance and takes the new detail. `lastsMs`: no event will show that it
   * is over, but while it lasts it is reported again within this time.
   */
  set(code: ProblemCode, subject: Subject, detail: string, lastsMs?: number): void {
    const key = keyOf(code, subject);
    const known = this.#problems.get(key);
    if (known === undefined && this.#problems.size >= problemsMax) {
      this.#beyondMax++;
      return;
    }
    const problem: Problem = { code, ...subject, detail, since: known?.since ?? this.#clock.wallMs() };
    this.#problems.set(key, problem);
    if (lastsMs !== undefined) this.#lastsUntilMs.set(key, this.#clock.monotonicMs() + lastsMs);
    if (known === undefined) this.#appeared(problem);
  }

  clear(code: ProblemCode, subject: Subject = {}): void {
    if (this.#problems.delete(keyOf(code, subject)) && this.#problems.size === 0) this.#beyondMax = 0;
  }

  /** Withdraws problems that were not reported again in time. Must be called regularly. */
  expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [key, untilMs] of this.#lastsUntilMs) {
      if (untilMs > nowMs) continue;
      this.#lastsUntilMs.delete(key);
      this.#problems.delete(key);
    }
  }

  /** Withdraws the problems of a path that was observed or applied without one. `file-damaged` stays until the file is repaired. */
  clearPath(path: string): void {
    if (this.#problems.size === 0) return;
    for (const [key, problem] of this.#problems) {
      if (problem.path === path && problem.code !== 'file-damaged') this.#problems.delete(key);
    }
  }

  /** Withdraws the problems below a directory that is gone. */
  clearBelow(directory: string): void {
    for (const [key, problem] of this.#problems) {
      if (problem.path !== undefined && isBelow(problem.path, directory)) this.#problems.delete(key);
    }
  }

  has(code: ProblemCode, subject: Subject = {}): boolean {
    return this.#problems.has(keyOf(code, subject));
  }

  /** A problem of the path, if it has one. */
  ofPath(path: string): Problem | undefined {
    for (const problem of this.#problems.values()) if (problem.path === path) return problem;
    return undefined;
  }

  list(): readonly Problem[] {
    return [...this.#problems.values()];
  }

  /** The problem to show if there is room for one: the worst that stops the whole member, else the oldest grave one, else the oldest. */
  worst(): Problem | undefined {
    const problems = this.list();
    for (const code of gravest) {
      const found = problems.find((problem) => problem.code === code);
      if (found !== undefined) return found;
    }
    return problems.find(({ code }) => isGrave(code)) ?? problems[0];
  }

  get count(): number {
    return this.#problems.size + this.#beyondMax;
  }
}

function keyOf(code: ProblemCode, subject: Subject): string {
  return `${code}\0${subject.path ?? ''}\0${subject.member ?? ''}`;
}
