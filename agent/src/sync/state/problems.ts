import type { Problem, ProblemCode } from '@lockstep/shared';
import { isBelow, isGrave, problemsCountedMax, problemsMax } from '@lockstep/shared';
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
  /** The keys of problems of applying: what is on the disk at the path does not end them. */
  readonly #ofApplying = new Set<string>();
  /** The keys of problems of directories that cannot be listed: the directory itself can be observed. */
  readonly #ofListing = new Set<string>();
  /** The problems of paths: only these can be without number. */
  #ofPaths = 0;
  /** Paths of problems that are only counted. Each scan reports them once more. */
  readonly #beyondMax = new Set<string>();

  constructor(clock: Clock, appeared: (problem: Problem) => void) {
    this.#clock = clock;
    this.#appeared = appeared;
  }

  /**
   * Adds a problem; a known one keeps its time of first appearance and takes the new detail. `lastsMs`: no event will show that it
   * is over, but while it lasts it is reported again within this time. A special file in the way of an entry is one problem: that of applying
   * the entry, which says what to do.
   */
  set(code: ProblemCode, subject: Subject, detail: string, lastsMs?: number): void {
    if (code === 'path-special' && this.has('path-in-the-way', subject)) return;
    const key = keyOf(code, subject);
    const known = this.#problems.get(key);
    const isFirstOfPath = known === undefined && subject.path !== undefined;
    if (isFirstOfPath && this.#ofPaths >= problemsMax) {
      if (this.#beyondMax.size < problemsCountedMax) this.#beyondMax.add(subject.path);
      return;
    }
    if (isFirstOfPath) this.#beyondMax.delete(subject.path);
    const problem: Problem = { code, ...subject, detail, since: known?.since ?? this.#clock.wallMs() };
    this.#problems.set(key, problem);
    if (isFirstOfPath) this.#ofPaths++;
    if (lastsMs !== undefined) this.#lastsUntilMs.set(key, this.#clock.monotonicMs() + lastsMs);
    if (known === undefined) this.#appeared(problem);
  }

  /** As `set`, for a path that cannot be applied. The problem stays until it is cleared by its code, or by `clearPath`. */
  setOfApplying(code: ProblemCode, path: string, detail: string): void {
    if (code === 'path-in-the-way') this.clear('path-special', { path });
    this.set(code, { path }, detail);
    if (this.has(code, { path })) this.#ofApplying.add(keyOf(code, { path }));
  }

  /** As `set`, for a directory that cannot be listed. The problem stays until it is cleared by its code, or the directory is gone. */
  setOfListing(code: ProblemCode, path: string, detail: string): void {
    this.set(code, { path }, detail);
    if (this.has(code, { path })) this.#ofListing.add(keyOf(code, { path }));
  }

  clear(code: ProblemCode, subject: Subject = {}): void {
    if (subject.path !== undefined) this.#beyondMax.delete(subject.path);
    this.#delete(keyOf(code, subject));
  }

  /** Withdraws problems that were not reported again in time. Must be called regularly. */
  expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [key, untilMs] of this.#lastsUntilMs) {
      if (untilMs > nowMs) continue;
      this.#lastsUntilMs.delete(key);
      this.#delete(key);
    }
  }

  /** Withdraws the problems of a path that was applied. `file-damaged` stays until the file is repaired. */
  clearPath(path: string): void {
    if (this.#problems.size === 0) return;
    this.#beyondMax.delete(path);
    for (const [key, problem] of this.#problems) {
      if (problem.path === path && problem.code !== 'file-damaged') this.#delete(key);
    }
  }

  /** Withdraws the problems of a path that was observed without one, but not those of applying or listing it. `file-damaged` stays as well. */
  clearObserved(path: string): void {
    if (this.#problems.size === 0) return;
    this.#beyondMax.delete(path);
    for (const [key, problem] of this.#problems) {
      const isOver = problem.code !== 'file-damaged' && !this.#ofApplying.has(key) && !this.#ofListing.has(key);
      if (problem.path === path && isOver) this.#delete(key);
    }
  }

  /** Withdraws the problems of listing a directory that is gone, and those below it, but not those of applying. */
  clearBelow(directory: string): void {
    for (const [key, problem] of this.#problems) {
      const isGone = problem.path === directory && this.#ofListing.has(key);
      const isThere = isGone || (problem.path !== undefined && isBelow(problem.path, directory));
      if (isThere && !this.#ofApplying.has(key)) this.#delete(key);
    }
  }

  has(code: ProblemCode, subject: Subject = {}): boolean {
    return this.#problems.has(keyOf(code, subject));
  }

  /** A problem of the path, if it has one: preferably one that says what to do, which that of a special file does not. */
  ofPath(path: string): Problem | undefined {
    let found: Problem | undefined;
    for (const problem of this.#problems.values()) {
      if (problem.path !== path) continue;
      if (problem.code !== 'path-special') return problem;
      found = problem;
    }
    return found;
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
    return this.#problems.size + this.#beyondMax.size;
  }

  #delete(key: string): void {
    this.#ofApplying.delete(key);
    this.#ofListing.delete(key);
    if (this.#problems.get(key)?.path !== undefined && --this.#ofPaths === 0) this.#beyondMax.clear();
    this.#problems.delete(key);
  }
}

function keyOf(code: ProblemCode, subject: Subject): string {
  return `${code}\0${subject.path ?? ''}\0${subject.member ?? ''}`;
}
