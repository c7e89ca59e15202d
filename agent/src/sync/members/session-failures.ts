import { joinIntervalMs, type MemberId } from '@lockstep/shared';
import { backoffMs } from '../../core/backoff.ts';
import type { Clock } from '../ports/clock.ts';
import type { Problems } from '../state/problems.ts';

/** A session that ended within this time has failed, unless the other side said goodbye. */
const shortSessionMs = 10_000;
/** Short sessions that are further apart than this are no row. */
const soonMs = 60_000;
/** A session that is up for this long shows that the trouble is over. */
export const stableSessionMs = 30_000;
/** Faults, and other short sessions with one reason, after which sessions with a member count as failing. */
const faultsMax = 2;
const shortSessionsMax = 5;
/** Waits between attempts. A fault costs both sides work each time and seldom ends by itself; a bad line may be good again at once. */
const faultWait = { minMs: 1_000, maxMs: 60_000 };
const shortWait = { minMs: 100, maxMs: joinIntervalMs };
/** Without another attempt for this long nothing is known any more: the member is off, or cannot be reached. */
const forgetAfterMs = 3 * faultWait.maxMs;

/** What the other side is told, and what is noted here, when a member opens a session while it has one. */
export const replacedReason = 'replaced by a newer session';
export const replacingReason = 'it opened another one';

/** How a session ended. */
export interface SessionEnd {
  readonly reason: string;
  /** One side broke the protocol, or could not go on: see `Link`. */
  readonly isFault: boolean;
  /** How long it was up; undefined when the other side never said hello. */
  readonly lastedMs: number | undefined;
}

interface Failures {
  readonly name: string;
  readonly reason: string;
  readonly isFault: boolean;
  readonly count: number;
  readonly lastMs: number;
  /** When this member dials again, and from when it takes a session that the other one opens: earlier, so that they do not miss. */
  readonly dialAtMs: number;
  readonly acceptAtMs: number;
}

/**
 * Members with which sessions end again and again for the same reason. Both sides count, say it as a problem, and wait longer after
 * each failure. While sessions with any member fail, nothing counts as synchronised.
 */
export class SessionFailures {
  readonly #clock: Clock;
  readonly #problems: Problems;
  readonly #failures = new Map<MemberId, Failures>();

  constructor(clock: Clock, problems: Problems) {
    this.#clock = clock;
    this.#problems = problems;
  }

  /** A session with the member ended without a goodbye. */
  ended(member: MemberId, name: string, { reason, isFault, lastedMs }: SessionEnd): void {
    const isShort = lastedMs !== undefined && lastedMs < shortSessionMs;
    const before = this.#failures.get(member);
    // A line that breaks between two faults is not the end of these.
    if (before?.isFault && !isFault) return;
    if (!isFault && !isShort) {
      if (lastedMs !== undefined) this.over(member);
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    const isSoon = before !== undefined && nowMs - before.lastMs < soonMs;
    const isRepeated = before !== undefined && (isFault ? before.isFault : isSoon && before.reason === reason);
    const count = isRepeated ? before.count + 1 : 1;
    const limits = isFault ? faultWait : shortWait;
    const isFailing = count >= (isFault ? faultsMax : shortSessionsMax);
    const waitMs = isFailing ? backoffMs(count - 1, limits, this.#clock.random()) : 0;
    const failures = {
      name,
      reason,
      isFault,
      count,
      lastMs: nowMs,
      dialAtMs: nowMs + waitMs,
      // A quarter of what the other side waits at least, whose count may be one less.
      acceptAtMs: nowMs + waitMs / 8,
    };
    this.#failures.set(member, failures);
    if (isFailing) this.#problems.set('session-failing', { member: name }, detailOf(failures), forgetAfterMs);
  }

  /** The member said goodbye, left, or has had a session for long enough. */
  over(member: MemberId): void {
    const failures = this.#failures.get(member);
    if (failures === undefined) return;
    this.#failures.delete(member);
    this.#problems.clear('session-failing', { member: failures.name });
  }

  /** Forgets those that nothing was heard of for long. Called now and then. */
  expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [member, { lastMs }] of this.#failures) if (nowMs - lastMs > forgetAfterMs) this.over(member);
  }

  /** How long to wait before the member is dialled; 0 for now. */
  dialWaitMs(member: MemberId): number {
    return Math.max(0, (this.#failures.get(member)?.dialAtMs ?? 0) - this.#clock.monotonicMs());
  }

  /** Why a session that the member opened is not taken now; undefined when it is. */
  refusal(member: MemberId): string | undefined {
    const failures = this.#failures.get(member);
    const waitMs = (failures?.acceptAtMs ?? 0) - this.#clock.monotonicMs();
    if (failures === undefined || waitMs <= 0) return undefined;
    return `${failures.count} sessions failed; the next is taken in ${Math.ceil(waitMs / 1_000)} s`;
  }

  /** A person asks to try again now. */
  retry(): void {
    for (const [member, failures] of this.#failures) {
      this.#failures.set(member, { ...failures, dialAtMs: 0, acceptAtMs: 0 });
    }
  }

  /** Whether sessions with any member are failing. */
  get areAny(): boolean {
    return [...this.#failures.values()].some(({ count, isFault }) => count >= (isFault ? faultsMax : shortSessionsMax));
  }
}

function whatToDo({ name, reason, isFault }: Failures): string {
  const who = { [replacedReason]: 'this member', [replacingReason]: name }[reason];
  if (who !== undefined) {
    return (
      `Two agents may run as ${who}: in a folder and in a copy of it. Stop one; to keep both, remove .lockstep from the copy and run ` +
      'lockstep init there. If there is only one, check the network between the two.'
    );
  }
  return isFault
    ? 'Install the same version of Lockstep on both members; if it is the same, report this with both logs.'
    : 'Check the network between the two.';
}

function detailOf(failures: Failures): string {
  const { name, reason, count } = failures;
  return (
    `Sessions with ${name} end again and again (${count} times): ${reason}. Until one lasts, the two exchange nothing directly. ` +
    `${whatToDo(failures)} It is tried again by itself, at growing intervals.`
  );
}
