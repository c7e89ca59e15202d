import type { Operation, ProblemCode } from '@lockstep/shared';
import { dotKey } from '@lockstep/shared';
import { backoffMs } from '../../core/backoff.ts';
import type { WakeTimer } from '../scheduling/wake-timer.ts';
import type { Context } from '../state/context.ts';
import { PathProblems } from './path-problems.ts';

const retry = { minMs: 50, maxMs: 10_000 };
const parkedMax = 100_000;

/** A path that could not be brought to its head: tried again later, or when the head changes. */
interface Parked {
  readonly head: string;
  readonly attempts: number;
  readonly untilMs: number;
  readonly reason: string;
}

/** The paths that were put off: why, until when, and what of it is a problem that people are told of. */
export class BlockedPaths {
  readonly #context: Context;
  readonly #timer: WakeTimer;
  readonly #troubles: PathProblems;
  readonly #parked = new Map<string, Parked>();

  /** `timer` rings when it is time to try again. `isBehind`: some member here knows operations that this one does not know yet. */
  constructor(context: Context, timer: WakeTimer, isBehind: () => boolean) {
    this.#context = context;
    this.#timer = timer;
    this.#troubles = new PathProblems(context, isBehind);
  }

  /** Puts a path off; with a `code` that is a problem. Each further attempt at the same head waits longer. */
  park(path: string, head: Operation, reason: string, code?: ProblemCode): void {
    const { clock } = this.#context;
    const known = this.#parked.get(path);
    const attempts = known?.head === dotKey(head) ? known.attempts + 1 : 0;
    const delayMs = backoffMs(attempts, retry, clock.random());
    if (this.#parked.size < parkedMax || known) {
      this.#parked.set(path, { head: dotKey(head), attempts, untilMs: clock.monotonicMs() + delayMs, reason });
    }
    if (code) this.#troubles.report(path, head, code, reason);
    this.#timer.in(delayMs);
  }

  /** The path was brought to its head. */
  over(path: string): void {
    this.#parked.delete(path);
    this.#troubles.over(path);
  }

  /** Forgets why paths were put off. */
  clear(): void {
    this.#parked.clear();
  }

  /** How long the path is put off yet; 0 when this head of it may be tried. */
  restMs(path: string, head: Operation, nowMs: number): number {
    const parked = this.#parked.get(path);
    return parked?.head === dotKey(head) ? Math.max(0, parked.untilMs - nowMs) : 0;
  }

  reason(path: string): string | undefined {
    return this.#parked.get(path)?.reason;
  }

  /** How often it was put off again. */
  attempts(path: string): number {
    return this.#parked.get(path)?.attempts ?? 0;
  }

  /** Called now and then: withdraws problems of what is not pending any more. */
  withdrawProblems(): void {
    this.#troubles.withdraw();
  }
}
