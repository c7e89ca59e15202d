import type { Problem, ProblemCode } from '@lockstep/shared';
import { isBelow, isGrave, problemsMax } from '@lockstep/shared';
import { CountedProblems } from '../../core/counted-problems.ts';
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

/** Problems of entries that are left alone: nothing waits for these, and there may be any number of them. */
const ofLeftAlone: ReadonlySet<ProblemCode> = new Set(['path-special', 'path-not-utf8', 'path-reserved']);

/** The rank of a problem when there is no room for all: that of an entry that is left alone, another minor one, a grave one. */
type Rank = 0 | 1 | 2;

function rankOf(code: ProblemCode): Rank {
  if (ofLeftAlone.has(code)) return 0;
  return isGrave(code) ? 2 : 1;
}

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
  /** The number of kept problems of paths, by rank: only these can be without number. */
  readonly #ofPaths: [number, number, number] = [0, 0, 0];
  /** Those of paths for which there is no room. */
  readonly #beyondMax = new CountedProblems();

  constructor(clock: Clock, appeared: (problem: Problem) => void) {
    this.#clock = clock;
    this.#appeared = appeared;
  }

  /**
   * Adds a problem; a known one keeps its time of first appearance and takes the new detail. `lastsMs`: no event will show that it
   * is over, but while it lasts it is reported again within this time. A special file in the way of an entry is one problem: that of applying
   * the entry, which says what to do. A problem of a path for which there is no room is only counted, the least grave first.
   */
  set(code: ProblemCode, subject: Subject, detail: string, lastsMs?: number): void {
    if (code === 'path-special' && this.has('path-in-the-way', subject)) return;
    const key = keyOf(code, subject);
    const known = this.#problems.get(key);
    const isFirstOfPath = known === undefined && subject.path !== undefined;
    if (isFirstOfPath && !this.#makesRoom(code)) {
      // One that ends by its time is not counted: no event would end that.
      if (lastsMs === undefined) this.#beyondMax.add(subject.path, code, false);
      return;
    }
    if (isFirstOfPath) this.#beyondMax.delete(subject.path);
    const problem: Problem = { code, ...subject, detail, since: known?.since ?? this.#clock.wallMs() };
    this.#problems.set(key, problem);
    if (isFirstOfPath) this.#ofPaths[rankOf(code)]++;
    if (lastsMs !== undefined) this.#lastsUntilMs.set(key, this.#clock.monotonicMs() + lastsMs);
    if (known === undefined) this.#appeared(problem);
  }

  /** As `set`, for a path that cannot be applied. The problem stays until it is cleared by its code, or by `clearPath`. */
  setOfApplying(code: ProblemCode, path: string, detail: string): void {
    if (code === 'path-in-the-way') this.clear('path-special', { path });
    this.set(code, { path }, detail);
    if (this.has(code, { path })) this.#ofApplying.add(keyOf(code, { path }));
    else if (this.#beyondMax.has(path, code)) this.#beyondMax.add(path, code, true);
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
    this.#beyondMax.clearBelow(directory);
    for (const [key, problem] of this.#problems) {
      const isGone = problem.path === directory && this.#ofListing.has(key);
      const isThere = isGone || (problem.path !== undefined && isBelow(problem.path, directory));
      if (isThere && !this.#ofApplying.has(key)) this.#delete(key);
    }
  }

  /** The number of reports that were only counted. One that comes later is newer than what was known before. */
  get countedReports(): number {
    return this.#beyondMax.reports;
  }

  /** Withdraws problems that are only counted, that were reported last by the report `upTo`, and that are over. */
  clearCounted(upTo: number, isOver: (code: ProblemCode, path: string) => boolean): void {
    this.#beyondMax.clear(upTo, isOver);
  }

  has(code: ProblemCode, subject: Subject = {}): boolean {
    return this.#problems.has(keyOf(code, subject));
  }

  /** True for a problem of the path that is kept or only counted. */
  isKnown(code: ProblemCode, path: string): boolean {
    return this.has(code, { path }) || this.#beyondMax.has(path, code);
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

  /** The number of problems of each code, with those that are only counted. */
  countsByCode(): ReadonlyMap<ProblemCode, number> {
    const counts = this.#beyondMax.countsByCode();
    for (const { code } of this.#problems.values()) counts.set(code, (counts.get(code) ?? 0) + 1);
    return counts;
  }

  /** True if one more problem of a path may be kept. If all places are taken, the last one of the lowest rank below gives way. */
  #makesRoom(code: ProblemCode): boolean {
    const [leftAlone, minor, grave] = this.#ofPaths;
    if (leftAlone + minor + grave < problemsMax) return true;
    const lowest: Rank = leftAlone > 0 ? 0 : 1;
    if (lowest >= rankOf(code) || this.#ofPaths[lowest] === 0) return false;
    let last: Problem | undefined;
    for (const problem of this.#problems.values()) {
      if (problem.path !== undefined && rankOf(problem.code) === lowest) last = problem;
    }
    if (last?.path === undefined) return false;
    const key = keyOf(last.code, last);
    if (!this.#lastsUntilMs.delete(key)) this.#beyondMax.add(last.path, last.code, this.#ofApplying.has(key));
    this.#delete(key);
    return true;
  }

  #delete(key: string): void {
    this.#ofApplying.delete(key);
    this.#ofListing.delete(key);
    const problem = this.#problems.get(key);
    this.#problems.delete(key);
    if (problem?.path === undefined) return;
    this.#ofPaths[rankOf(problem.code)]--;
    if (this.#ofPaths.every((count) => count === 0)) this.#beyondMax.clear();
  }
}

function keyOf(code: ProblemCode, subject: Subject): string {
  return `${code}\0${subject.path ?? ''}\0${subject.member ?? ''}`;
}
