import { vanishedHoldMs } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';

/** A path that may have changed and has not been looked at since. Times in milliseconds of a monotonic clock. */
export interface Unsettled {
  readonly path: string;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly dueMs: number;
  /** When a look first found that nothing stands there any more. */
  readonly vanishedMs?: number | undefined;
  /** It was looked at after its last change, and has to be once more. */
  readonly isSeen?: boolean | undefined;
}

/** A change is looked at after this silence: long enough for a write and its rename to be one, far below what a person notices. */
export const quietMsMin = 2;
/** A path that changes without end is looked at after at most this silence. */
export const quietMsMax = 1_000;
/** A path that never falls silent is looked at all the same, after this many times its silence. */
const patience = 4;
/** A file above this many bytes is left to settle longer: reading it costs more than waiting. */
const largeQuietMs = 50;
/** A reader of a large, ever-growing file may take at most about this share of the time. */
const largeReadShare = 0.05;
/** Bytes of large files hashed in a millisecond, for estimating that share; the order of magnitude is enough. */
const hashedBytesPerMs = 1_000_000;
const publishedMax = 4_096;

/**
 * Decides when a changed path has settled. The first change of a path is looked at almost at once; every further one while it
 * keeps changing doubles the silence that is asked of it, up to a second, so that a log written a hundred times a second costs
 * little and a saved document costs nobody any wait.
 */
export class Settle {
  readonly #unsettled = new Map<string, Unsettled>();
  readonly #published = new LRUCache<string, { quietMs: number; atMs: number }>({ max: publishedMax });
  /** Nothing is due before this. Kept beside the map, because it is asked for with every mark: of tens of thousands in a burst. */
  #nothingDueBeforeMs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#unsettled.size;
  }

  /** Something may have happened at `path`. */
  mark(path: string, nowMs: number): void {
    const known = this.#unsettled.get(path);
    const firstMs = known?.firstMs ?? nowMs;
    const quietMs = this.#quietMs(path, nowMs);
    if (known?.vanishedMs !== undefined) {
      // It may be back: what it waited for is no reason to look late.
      this.#put({ ...known, lastMs: nowMs, dueMs: Math.min(known.dueMs, nowMs + quietMs), isSeen: false });
      return;
    }
    const wantedMs = Math.max(known === undefined ? 0 : known.dueMs - known.lastMs, quietMs);
    const dueMs = Math.min(nowMs + wantedMs, Math.max(known?.dueMs ?? 0, firstMs + wantedMs * patience));
    this.#put({ path, firstMs, lastMs: nowMs, dueMs });
  }

  /** Looked at, last changed at `lastMs`, and not ready: look again at `dueMs`, or after further changes. */
  defer(path: string, firstMs: number, lastMs: number, dueMs: number, vanishedMs?: number): void {
    const known = this.#unsettled.get(path);
    const since = Math.max(lastMs, known?.lastMs ?? lastMs);
    const isSeen = known === undefined;
    this.#put({ path, firstMs, lastMs: since, dueMs: Math.max(dueMs, known?.dueMs ?? dueMs), vanishedMs, isSeen });
  }

  /** What was deferred as gone at `untilMs` or before is due as soon as its hold is over. */
  confirmVanished(untilMs: number, nowMs: number): void {
    for (const entry of this.#unsettled.values()) {
      if (entry.vanishedMs === undefined || entry.vanishedMs > untilMs || !entry.isSeen) continue;
      this.#put({ ...entry, dueMs: Math.max(nowMs, entry.vanishedMs + vanishedHoldMs) });
    }
  }

  /** Paths that have not been looked at since they changed, but for those that change so often that they are kept waiting. */
  unseen(nowMs: number): readonly string[] {
    const unseen: string[] = [];
    for (const { path, isSeen } of this.#unsettled.values()) {
      if (!isSeen && this.#quietMs(path, nowMs) === quietMsMin) unseen.push(path);
    }
    return unseen;
  }

  /** An operation was made of what `path` was: if it changes again soon, it must hold still longer. */
  published(path: string, nowMs: number): void {
    const quietMs = Math.min(quietMsMax, this.#quietMs(path, nowMs) * 2);
    this.#published.set(path, { quietMs, atMs: nowMs });
  }

  /** Takes out up to `limit` paths that are due, in the order of their first change. */
  takeDue(nowMs: number, limit: number): readonly Unsettled[] {
    const due: Unsettled[] = [];
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
      due.push(entry);
    }
    for (const entry of due) this.#unsettled.delete(entry.path);
    this.#nothingDueBeforeMs = nextMs;
    return due;
  }

  /**
   * When to take what is due, or undefined when nothing is unsettled. It may come out early, when a path that was marked again
   * had been the next: then nothing is taken, and the answer is exact.
   */
  nextDueMs(): number | undefined {
    return this.#unsettled.size === 0 ? undefined : this.#nothingDueBeforeMs;
  }

  /** Makes everything due now: somebody asks whether all is synchronised. */
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

  #put(entry: Unsettled): void {
    this.#unsettled.set(entry.path, entry);
    this.#nothingDueBeforeMs = Math.min(this.#nothingDueBeforeMs, entry.dueMs);
  }

  #quietMs(path: string, nowMs: number): number {
    const published = this.#published.get(path);
    // After a long enough silence the path is an ordinary one again.
    if (published === undefined || nowMs - published.atMs > published.quietMs * 8) return quietMsMin;
    return published.quietMs;
  }
}

/**
 * When a large file may be read: undefined for now. It must have been still for a moment; one that never is, is read when
 * reading it takes only a small share of the time since it was first seen changing.
 */
export function largeFileDueMs(
  unsettled: Unsettled,
  size: number,
  modifiedAgoMs: number,
  nowMs: number,
): number | undefined {
  // A modification time in the future was set by somebody, and says nothing of when that was.
  const isStill = modifiedAgoMs >= largeQuietMs || modifiedAgoMs < 0;
  if (nowMs - unsettled.lastMs >= largeQuietMs && isStill) return undefined;
  const readMs = size / hashedBytesPerMs;
  const latestMs = unsettled.firstMs + Math.max(quietMsMax * patience, readMs / largeReadShare);
  if (nowMs >= latestMs) return undefined;
  return Math.min(nowMs + largeQuietMs, latestMs);
}
