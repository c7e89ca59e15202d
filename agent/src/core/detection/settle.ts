import { vanishedHoldMs } from '@lockstep/shared';
import { RecentMap } from '../recent-map.ts';

/** How often a large file was read while it kept changing. */
interface LargeReads {
  readonly count: number;
  /** The number of last reads that gave nothing, because the file changed meanwhile. */
  readonly overtaken: number;
}

/** A path that may have changed and has not been checked since. Times in milliseconds of a monotonic clock. */
export interface DirtyPath {
  readonly path: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly dueMs: number;
  /** When a check first found no entry there. */
  readonly missingSinceMs?: number | undefined;
  /** It was checked after its last change, and must be checked once more. */
  readonly isSeen?: boolean | undefined;
  /** Its large file may not be read yet. */
  readonly isLarge?: boolean | undefined;
  /** The reads of its large file since it began to change without a pause. */
  readonly reads?: LargeReads | undefined;
}

/** A change is checked after this silence: long enough for a write and its rename to be one, and short against the time to all members. */
export const quietMsMin = 1;
/** A path that keeps changing is checked after at most this silence. */
export const quietMsMax = 1_000;
/**
 * A file that is written for some time must be silent for as long, up to this: it is then seldom read half written, and reading takes time
 * from its writer.
 */
export const writtenQuietMsMax = 10;
/** A path that is never silent is checked all the same, after this many times its silence. */
const patience = 4;
/** The silence, in milliseconds, that a large file must have: to read it costs more than to wait. */
const largeQuietMs = 50;
/** Each read doubles the silence that a file which keeps changing must have, up to this many times what a read takes. */
const largeQuietReads = 4;
/** The share of time that reads of a large, growing file may take. Each further read that a change overtakes halves it, up to so often. */
const largeReadShare = 0.05;
const largeReadHalvings = 3;
/** A large file that was not changed for so long is an ordinary one again. */
const largePauseMs = 2_000;
/** The bytes of a large file that are hashed in a millisecond, to estimate that share; the order of magnitude is enough. */
const hashedBytesPerMs = 1_000_000;
/**
 * A path that changes again within this time of its last operation counts as still changing. So a steady writer costs at most ten
 * operations a second, even if each check is late.
 */
const steadyMs = 100;
/** A path with a longer silence than this makes no other path wait for its check. */
const awaitedQuietMsMax = 10;
/** Paths that wait longer for their check are shown to people. */
const shortWaitMs = 250;
const publishedMax = 4_096;

/**
 * Decides when a changed path has settled. The first change of a path is checked almost at once. Each operation made while it keeps
 * changing doubles the silence that is required, up to a second. So a log written a hundred times a second costs little, and a saved
 * document does not wait.
 */
export class Settle {
  readonly #unsettled = new Map<string, DirtyPath>();
  readonly #published = new RecentMap<string, { quietMs: number; atMs: number }>(publishedMax);
  /** The reads of large files that keep changing. */
  readonly #read = new RecentMap<string, LargeReads & { readonly atMs: number }>(publishedMax);
  /** Nothing is due before this. A field of its own, because each mark asks for it, and a burst has tens of thousands of marks. */
  #nothingDueBeforeMs = Number.POSITIVE_INFINITY;
  #unseen = 0;

  get size(): number {
    return this.#unsettled.size;
  }

  /** The number of paths that have not been checked since they changed. */
  get unseenCount(): number {
    return this.#unseen;
  }

  /** Notes that `path` may have changed. */
  mark(path: string, nowMs: number): void {
    const known = this.#unsettled.get(path);
    if (known === undefined && nowMs - (this.#read.get(path)?.atMs ?? nowMs) > largePauseMs) this.#read.delete(path);
    const firstMs = known?.firstMs ?? nowMs;
    const quietMs = this.#quietMs(path, nowMs);
    if (known?.missingSinceMs !== undefined) {
      // It may be back: the wait for its new name is no reason to check late.
      this.#put({ ...known, lastMs: nowMs, dueMs: Math.min(known.dueMs, nowMs + quietMs), isSeen: false });
      return;
    }
    const writtenMs = Math.min(nowMs - firstMs, writtenQuietMsMax);
    const wantedMs = Math.max(known === undefined ? 0 : known.dueMs - known.lastMs, quietMs, writtenMs);
    const dueMs = Math.min(nowMs + wantedMs, Math.max(known?.dueMs ?? 0, firstMs + wantedMs * patience));
    this.#put({ path, firstMs, lastMs: nowMs, dueMs, isLarge: known?.isLarge });
  }

  /**
   * Puts off a path that was checked and is not ready. It last changed at `lastMs`, and is due at `dueMs` or later after further changes.
   */
  defer({ path, firstMs, lastMs, missingSinceMs, isLarge }: Omit<DirtyPath, 'dueMs'>, dueMs: number): void {
    const known = this.#unsettled.get(path);
    const since = Math.max(lastMs, known?.lastMs ?? lastMs);
    const isSeen = known === undefined;
    const laterMs = Math.max(dueMs, known?.dueMs ?? dueMs);
    this.#put({ path, firstMs, lastMs: since, dueMs: laterMs, missingSinceMs, isSeen, isLarge });
  }

  /** Notes that the check of a path that was put off could not tell which entry is there. */
  keepUnseen(path: string): void {
    const known = this.#unsettled.get(path);
    if (known !== undefined) this.#put({ ...known, isSeen: false });
  }

  /** Makes each path that was found absent at `untilMs` or before due as soon as its hold is over. */
  confirmVanished(untilMs: number, nowMs: number): void {
    for (const entry of this.#unsettled.values()) {
      if (entry.missingSinceMs === undefined || entry.missingSinceMs > untilMs || !entry.isSeen) continue;
      this.#put({ ...entry, dueMs: Math.max(nowMs, entry.missingSinceMs + vanishedHoldMs) });
    }
  }

  /** The paths that have not been checked since they changed, except those that change so often that they must wait. */
  unseen(nowMs: number): readonly string[] {
    const unseen: string[] = [];
    for (const { path, isSeen } of this.#unsettled.values()) {
      if (!isSeen && this.#quietMs(path, nowMs) <= awaitedQuietMsMax) unseen.push(path);
    }
    return unseen;
  }

  /** The paths that keep changing and must wait for their check, with the time of that; later if they change further. */
  changing(nowMs: number): readonly Pick<DirtyPath, 'path' | 'dueMs'>[] {
    const isChanging = ({ isLarge, isSeen, missingSinceMs, dueMs }: DirtyPath): boolean =>
      isLarge === true || (isSeen !== true && missingSinceMs === undefined && dueMs - nowMs > shortWaitMs);
    return [...this.#unsettled.values()].filter(isChanging);
  }

  /** Notes that an operation was made of `path`: if it changes again soon, it must be silent for longer. */
  published(path: string, nowMs: number): void {
    const quietMs = Math.min(quietMsMax, this.#quietMs(path, nowMs) * 2);
    this.#published.set(path, { quietMs, atMs: nowMs });
  }

  /** Notes that a large file was read for an operation. */
  read(path: string, nowMs: number): void {
    this.#read.set(path, { count: (this.#read.get(path)?.count ?? 0) + 1, overtaken: 0, atMs: nowMs });
  }

  /** Notes that a large file was read for nothing, because it changed meanwhile. */
  readOvertaken(path: string, nowMs: number): void {
    const { count, overtaken } = this.#read.get(path) ?? { count: 0, overtaken: 0 };
    this.#read.set(path, { count: count + 1, overtaken: overtaken + 1, atMs: nowMs });
  }

  /** Takes out up to `limit` paths that are due, in the order of their first change. */
  takeDue(nowMs: number, limit: number): readonly DirtyPath[] {
    const due: DirtyPath[] = [];
    if (nowMs < this.#nothingDueBeforeMs) return due;
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of this.#unsettled.values()) {
      if (entry.dueMs > nowMs) {
        nextMs = Math.min(nextMs, entry.dueMs);
        continue;
      }
      if (due.length === limit) {
        nextMs = nowMs;
        break;
      }
      const read = this.#read.get(entry.path);
      if (read !== undefined) this.#read.set(entry.path, { ...read, atMs: nowMs });
      due.push(read === undefined ? entry : { ...entry, reads: read });
    }
    for (const entry of due) {
      this.#unsettled.delete(entry.path);
      if (!entry.isSeen) this.#unseen--;
    }
    this.#nothingDueBeforeMs = nextMs;
    return due;
  }

  /**
   * The time of the next `takeDue`, or undefined when nothing is unsettled. It may be too early when a path that was next was marked again:
   * then nothing is taken, and the next answer is exact.
   */
  nextDueMs(): number | undefined {
    return this.#unsettled.size === 0 ? undefined : this.#nothingDueBeforeMs;
  }

  /** Makes everything due now: a user asks whether all is synchronised. */
  hurry(nowMs: number): void {
    for (const entry of this.#unsettled.values()) this.#put({ ...entry, dueMs: Math.min(entry.dueMs, nowMs) });
  }

  has(path: string): boolean {
    return this.#unsettled.has(path);
  }

  paths(): readonly string[] {
    return [...this.#unsettled.keys()];
  }

  #put(entry: DirtyPath): void {
    const known = this.#unsettled.get(entry.path);
    if (known !== undefined && !known.isSeen) this.#unseen--;
    if (!entry.isSeen) this.#unseen++;
    this.#unsettled.set(entry.path, entry);
    this.#nothingDueBeforeMs = Math.min(this.#nothingDueBeforeMs, entry.dueMs);
  }

  #quietMs(path: string, nowMs: number): number {
    const published = this.#published.get(path);
    if (published === undefined) return quietMsMin;
    const busyMs = Math.max(published.quietMs * 8, steadyMs);
    // After a long silence the path is an ordinary one again.
    return nowMs - published.atMs > busyMs ? quietMsMin : published.quietMs;
  }
}

/**
 * When to try again to read a large file; undefined if it may be read now. It must have been still for a moment, and one that was read and
 * keeps changing for longer. A file that never is may be read once the read takes only a small share of the time since its first change.
 */
export function largeFileDueMs(
  unsettled: DirtyPath,
  size: number,
  modifiedAgoMs: number,
  nowMs: number,
): number | undefined {
  const { firstMs, lastMs, reads = { count: 0, overtaken: 0 } } = unsettled;
  // A modification time in the future was set by a program and does not show when the file was written.
  const stillMs = Math.min(nowMs - lastMs, modifiedAgoMs < 0 ? Number.POSITIVE_INFINITY : modifiedAgoMs);
  const readMs = size / hashedBytesPerMs;
  const quietMs = Math.max(largeQuietMs, Math.min(largeQuietMs * 2 ** reads.count, readMs * largeQuietReads));
  if (stillMs >= quietMs) return undefined;
  const share = largeReadShare / 2 ** Math.min(Math.max(0, reads.overtaken - 1), largeReadHalvings);
  const latestMs = firstMs + Math.max(quietMsMax * patience, readMs / share);
  if (nowMs < latestMs) return Math.min(Math.max(nowMs + largeQuietMs, lastMs + quietMs), latestMs);
  // A read that begins just after a change has the most time until the next one.
  const isAfterChange = lastMs >= latestMs && stillMs >= largeQuietMs;
  return isAfterChange || nowMs >= latestMs + quietMs ? undefined : nowMs + largeQuietMs;
}
