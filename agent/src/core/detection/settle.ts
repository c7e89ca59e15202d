import { vanishedHoldMs } from '@lockstep/shared';
import { RecentMap } from '../recent-map.ts';

/** The reads of a large file while it keeps changing. */
interface LargeReads {
  /** The number of reads of the whole file; when the last one ended, and what it took. */
  readonly whole: number;
  readonly endedMs: number;
  readonly spentMs: number;
  readonly bytesPerMs: number;
  /** The number of reads after a silence, since the last whole one, that ended because the file changed. */
  readonly silencesBroken: number;
  /** The number of other reads that did, since the last whole one, and until when no other such read may begin. */
  readonly overtaken: number;
  readonly restUntilMs: number;
}

/** When a large file that was examined may be read. */
export interface LargeWait {
  readonly notBeforeMs: number;
  /** It may be read once it was still for so long. */
  readonly quietMs: number;
  /** From this time on it may also be read just after a change. */
  readonly changeFromMs: number;
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
  /** The reads of its large file since it began to change without a pause. */
  readonly reads?: LargeReads | undefined;
  /** It waits for a read of its large file. */
  readonly wait?: LargeWait | undefined;
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
/** Each read after such a silence that a change overtakes doubles it, up to this many times what a read takes. */
const largeQuietReads = 4;
/** After two reads of the whole file the next one waits for twice, then 6, then this many times what the last one took. */
const largeRestReads = 9;
/** The share of time that reads of a large file which is never still may take. Each further read that a change overtakes halves it, up to so often. */
const largeReadShare = 0.05;
const largeReadHalvings = 3;
/** A large file that was not changed for so long is an ordinary one again. */
const largePauseMs = 2_000;
/** The bytes of a large file that are hashed in a millisecond, as long as this was not measured. */
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

  get size(): number {
    return this.#unsettled.size;
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
    if (known?.wait !== undefined) {
      this.#put({ ...known, lastMs: nowMs, dueMs: largeDueMs(known.wait, nowMs, nowMs), isSeen: false });
      return;
    }
    const writtenMs = Math.min(nowMs - firstMs, writtenQuietMsMax);
    const wantedMs = Math.max(known === undefined ? 0 : known.dueMs - known.lastMs, quietMs, writtenMs);
    const dueMs = Math.min(nowMs + wantedMs, Math.max(known?.dueMs ?? 0, firstMs + wantedMs * patience));
    this.#put({ path, firstMs, lastMs: nowMs, dueMs });
  }

  /**
   * Puts off a path that was checked and is not ready. It last changed at `lastMs`, and is due at `dueMs` or later after further changes.
   */
  defer(path: string, firstMs: number, lastMs: number, dueMs: number, missingSinceMs?: number): void {
    const known = this.#unsettled.get(path);
    const since = Math.max(lastMs, known?.lastMs ?? lastMs);
    const isSeen = known === undefined;
    this.#put({ path, firstMs, lastMs: since, dueMs: Math.max(dueMs, known?.dueMs ?? dueMs), missingSinceMs, isSeen });
  }

  /** Puts off a path whose large file may not be read yet. */
  awaitRead({ path, firstMs, lastMs }: DirtyPath, wait: LargeWait, nowMs: number): void {
    const known = this.#unsettled.get(path);
    const since = Math.max(lastMs, known?.lastMs ?? lastMs);
    const dueMs = largeDueMs(wait, since, nowMs);
    this.#put({ path, firstMs, lastMs: since, dueMs, isSeen: known === undefined, wait });
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
    const isChanging = ({ wait, isSeen, missingSinceMs, dueMs }: DirtyPath): boolean =>
      wait !== undefined || (isSeen !== true && missingSinceMs === undefined && dueMs - nowMs > shortWaitMs);
    return [...this.#unsettled.values()].filter(isChanging);
  }

  /** Notes that an operation was made of `path`: if it changes again soon, it must be silent for longer. */
  published(path: string, nowMs: number): void {
    const quietMs = Math.min(quietMsMax, this.#quietMs(path, nowMs) * 2);
    this.#published.set(path, { quietMs, atMs: nowMs });
  }

  /** Notes that the `size` bytes of a large file were read in `spentMs`. */
  read(unsettled: DirtyPath, size: number, spentMs: number, nowMs: number): void {
    const { path } = unsettled;
    const { whole, silencesBroken } = this.#read.get(path) ?? unread;
    this.#read.set(path, {
      ...unread,
      whole: whole + 1,
      endedMs: nowMs,
      spentMs,
      bytesPerMs: size / Math.max(1, spentMs),
      silencesBroken: wasStill(unsettled, nowMs - spentMs) ? 0 : silencesBroken,
      atMs: nowMs,
    });
  }

  /** Notes that the read of a large file ended after `spentMs` because the file changed. */
  readOvertaken(unsettled: DirtyPath, spentMs: number, nowMs: number): void {
    const reads = this.#read.get(unsettled.path) ?? unread;
    const { silencesBroken, overtaken } = reads;
    const share = largeReadShare / 2 ** Math.min(overtaken, largeReadHalvings);
    const next = wasStill(unsettled, nowMs - spentMs)
      ? { silencesBroken: silencesBroken + 1 }
      : { overtaken: overtaken + 1, restUntilMs: nowMs + Math.max(quietMsMax, spentMs / share) };
    this.#read.set(unsettled.path, { ...reads, ...next, atMs: nowMs });
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
    for (const entry of due) this.#unsettled.delete(entry.path);
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

  clear(): void {
    this.#unsettled.clear();
    this.#nothingDueBeforeMs = Number.POSITIVE_INFINITY;
  }

  #put(entry: DirtyPath): void {
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
 * What the read of a large file waits for; undefined if it may be read now. It must have been still for a moment, and for longer if
 * that did not keep changes from overtaking reads. A file that never is may be read once the read takes only a small share of the time since
 * its first change.
 */
export function largeFileWait(
  unsettled: DirtyPath,
  size: number,
  modifiedAgoMs: number,
  nowMs: number,
): LargeWait | undefined {
  const { firstMs, lastMs, reads = unread } = unsettled;
  // A modification time in the future was set by a program and does not show when the file was written.
  const stillMs = Math.min(nowMs - lastMs, modifiedAgoMs < 0 ? Number.POSITIVE_INFINITY : modifiedAgoMs);
  const readMs = size / reads.bytesPerMs;
  const quietMs = Math.max(largeQuietMs, Math.min(largeQuietMs * 2 ** reads.silencesBroken, readMs * largeQuietReads));
  const notBeforeMs = reads.endedMs + reads.spentMs * Math.min(2 ** reads.whole - 2, largeRestReads);
  const neverStillMs = firstMs + Math.max(quietMsMax * patience, readMs / largeReadShare);
  const changeFromMs = Math.max(notBeforeMs, neverStillMs, reads.restUntilMs);
  const wait = { notBeforeMs, quietMs, changeFromMs };
  if (nowMs < notBeforeMs) return wait;
  // A read that begins just after a change has the most time until the next one.
  const isAfterChange = lastMs >= changeFromMs;
  return stillMs >= quietMs || isAfterChange || nowMs >= changeFromMs + quietMs ? undefined : wait;
}

/** Of a file that was not read yet. */
const unread: LargeReads = {
  whole: 0,
  endedMs: Number.NEGATIVE_INFINITY,
  spentMs: 0,
  bytesPerMs: hashedBytesPerMs,
  silencesBroken: 0,
  overtaken: 0,
  restUntilMs: Number.NEGATIVE_INFINITY,
};

/** Whether a file was still for a moment before its read began. */
function wasStill({ lastMs }: DirtyPath, beganMs: number): boolean {
  return beganMs - lastMs >= largeQuietMs;
}

/** When to examine a large file again that last changed at `lastMs`. */
function largeDueMs({ notBeforeMs, quietMs, changeFromMs }: LargeWait, lastMs: number, nowMs: number): number {
  if (lastMs >= changeFromMs) return nowMs + quietMsMin;
  const stillMs = Math.max(notBeforeMs, lastMs + quietMs, nowMs + largeQuietMs);
  return nowMs < changeFromMs ? Math.min(stillMs, changeFromMs) : stillMs;
}
