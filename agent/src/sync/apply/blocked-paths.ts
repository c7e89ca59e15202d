import type { ContentId, Operation, ProblemCode } from '@lockstep/shared';
import { dotKey } from '@lockstep/shared';
import { backoffMs } from '../../core/backoff.ts';
import type { WakeTimer } from '../scheduling/wake-timer.ts';
import type { Context } from '../state/context.ts';
import { PathProblems } from './path-problems.ts';
import { RoomWaits } from './room-waits.ts';

/** The shortest and the longest time to the next attempt. */
interface RetryLimits {
  readonly minMs: number;
  readonly maxMs: number;
}

const retry: RetryLimits = { minMs: 50, maxMs: 10_000 };
/** Each attempt fetches what the disk still takes, and drops it. */
const retryWithoutRoom: RetryLimits = { minMs: 30_000, maxMs: 300_000 };
const blockedMax = 100_000;

/** A path whose head could not be applied: tried again later, or when the head changes. */
interface Blocked {
  readonly head: string;
  /** Those with the same limits. */
  readonly attempts: number;
  readonly limits: RetryLimits;
  readonly untilMs: number;
  readonly reason: string;
}

/** The blocked paths: why, until when, and which of them are reported as problems. */
export class BlockedPaths {
  readonly #context: Context;
  readonly #timer: WakeTimer;
  readonly #problems: PathProblems;
  readonly #blocked = new Map<string, Blocked>();
  readonly #roomWaits = new RoomWaits();

  /** `timer` rings at the next retry. */
  constructor(context: Context, timer: WakeTimer, contents: ConstructorParameters<typeof PathProblems>[1]) {
    this.#context = context;
    this.#timer = timer;
    this.#problems = new PathProblems(context, contents);
  }

  /** Blocks a path, and reports a problem if there is a `code`. Each further attempt at the same head waits longer. */
  block(path: string, head: Operation, reason: string, code?: ProblemCode): void {
    this.#block(path, head, { reason, code, limits: retry });
  }

  /** As `block`, for a file whose content has no room on the disk. `isMeasured`: the disk is known to be full, so no quota refuses it. */
  blockWithoutRoom(path: string, head: Operation, reason: string, isMeasured: boolean): void {
    this.#block(path, head, { reason, code: 'disk-full', limits: retryWithoutRoom });
    if (this.#blocked.has(path)) this.#roomWaits.add(path, head.size ?? 0, isMeasured);
  }

  /** As `block`, for a file whose bytes the system does not take: those that it took are dropped, and fetched again at each attempt. */
  blockRefused(
    path: string,
    head: Operation,
    { code, detail }: { readonly code: ProblemCode; readonly detail: string },
  ): void {
    const limits = code === 'file-too-large' ? retryWithoutRoom : retry;
    this.#block(path, head, { reason: detail, code, limits });
  }

  #block(
    path: string,
    head: Operation,
    {
      reason,
      code,
      limits,
    }: { readonly reason: string; readonly code: ProblemCode | undefined; readonly limits: RetryLimits },
  ): void {
    const { clock } = this.#context;
    const known = this.#blocked.get(path);
    const isSame = known?.head === dotKey(head) && known.limits === limits;
    const attempts = isSame ? known.attempts + 1 : 0;
    const delayMs = backoffMs(attempts, limits, clock.random());
    if (this.#blocked.size < blockedMax || known) {
      const untilMs = clock.monotonicMs() + delayMs;
      this.#blocked.set(path, { head: dotKey(head), attempts, limits, untilMs, reason });
    }
    if (code) this.#problems.report(path, head, code, reason);
    this.#timer.in(delayMs);
  }

  /** Unblocks the path: its head was applied. */
  over(path: string): void {
    this.#blocked.delete(path);
    this.#roomWaits.delete(path);
    this.#problems.over(path);
  }

  /** Withdraws what was said of the missing content of the path: a block of it has come. A path without room stays blocked. */
  arrives(path: string, content: ContentId): void {
    if (this.#blocked.get(path)?.limits === retry) this.#blocked.delete(path);
    this.#problems.arrives(path, content);
  }

  /** The disk has so many free bytes now. Unblocks what it has room for since; true if there is any. */
  measured(freeBytes: number): boolean {
    const freed = this.#roomWaits.measured(freeBytes);
    for (const path of freed) this.#blocked.delete(path);
    return freed.length > 0;
  }

  /** Unblocks all paths. */
  clear(): void {
    this.#blocked.clear();
    this.#roomWaits.clear();
  }

  /** Milliseconds for which the path stays blocked; 0 if this head may be tried. */
  restMs(path: string, head: Operation, nowMs: number): number {
    const blocked = this.#blocked.get(path);
    return blocked?.head === dotKey(head) ? Math.max(0, blocked.untilMs - nowMs) : 0;
  }

  reason(path: string): string | undefined {
    return this.#blocked.get(path)?.reason;
  }

  /** The blocked paths, the one that was blocked first at the beginning. */
  paths(): Iterable<string> {
    return this.#blocked.keys();
  }

  /** Number of retries for the present head. */
  attempts(path: string): number {
    return this.#blocked.get(path)?.attempts ?? 0;
  }

  /** Withdraws the problems of paths that are no longer pending. Must be called regularly. */
  withdrawProblems(): void {
    this.#problems.withdraw();
  }
}
