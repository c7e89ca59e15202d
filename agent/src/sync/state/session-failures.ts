import { joinIntervalMs, type MemberId, removerIn } from '@lockstep/shared';
import { backoffMs } from '../../core/backoff.ts';
import type { Clock } from '../ports/clock.ts';
import { isJournalFull } from './disk-room.ts';
import type { Problems } from './problems.ts';

/** A session that ended within this time has failed, unless the other side sent a `leave`. */
const shortSessionMs = 10_000;
/** Short sessions that are further apart than this are not counted together. */
const soonMs = 60_000;
/**
 * A session that lasts this long shows that the problem is over. One that is replaced before is short. Two agents that run as one member take
 * each other's place, and with growing waits their sessions last longer than `shortSessionMs`.
 */
export const stableSessionMs = 30_000;
/** Numbers of faults, and of short sessions with one reason, after which sessions with a member count as failing. */
const faultsMax = 2;
const shortSessionsMax = 5;
/** Waits between attempts. A fault costs both sides work and seldom ends without a repair; a bad line may recover at once. */
const faultWait = { minMs: 1_000, maxMs: 60_000 };
const shortWait = { minMs: 100, maxMs: joinIntervalMs };
/** Failures are forgotten after this time without an attempt: the member is off, or cannot be reached. */
const forgetAfterMs = 3 * faultWait.maxMs;

/** Reasons for the end of a session whose member opened another one: the one sent to the other side, and the one noted here. */
export const replacedReason = 'replaced by a newer session';
export const replacingReason = 'it opened a newer session';

/** Reasons for the end of a session because of a fork: one that was found during the session, and one that was repaired instead of it. */
export const differingReason = 'it has other operations under the same numbers';
export const sealedReason = 'the log of an origin forked, and has been sealed';

const noRoomReason = ' has no room for its journal';
const unwritableReason = ' cannot write its journal: ';

/** The reason for the end of a session whose operations `name` could not journal. It begins with the name: on the wire it may be cut short. */
export function unjournaledReason(name: string, error: unknown): string {
  return isJournalFull(error) ? `${name}${noRoomReason}` : `${name}${unwritableReason}${causeOf(error)}`;
}

/** The answer of the disk, without the sentence for people: that one is too long for the wire and contains paths. */
function causeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  const said = cause instanceof Error ? cause : error;
  return (said instanceof Error ? said.message : String(said)).replace(/\.$/, '');
}

/** How a session ended. */
export interface SessionEnd {
  readonly reason: string;
  /** One side broke the protocol, or could not go on: see `Link`. */
  readonly isFault: boolean;
  /** How long it lasted; undefined if the other side never sent a hello. */
  readonly lastedMs: number | undefined;
}

interface Failures {
  readonly name: string;
  readonly reason: string;
  readonly isFault: boolean;
  readonly count: number;
  /** From then on each session that ends early counts, for whatever reason, until one has lasted. */
  readonly isFailing: boolean;
  readonly lastMs: number;
  /** When this member dials again, and from when it accepts a session of the other one: earlier, so that the two attempts meet. */
  readonly dialAtMs: number;
  readonly acceptAtMs: number;
}

/**
 * Members whose sessions fail repeatedly for the same reason. Both sides count, report a problem, and wait longer after each
 * failure. While sessions with any member fail, the cluster does not count as synchronised.
 */
export class SessionFailures {
  readonly #clock: Clock;
  readonly #problems: Problems;
  readonly #failures = new Map<MemberId, Failures>();

  constructor(clock: Clock, problems: Problems) {
    this.#clock = clock;
    this.#problems = problems;
  }

  /** Counts a session with the member that ended without a `leave`. */
  ended(member: MemberId, name: string, { reason, isFault, lastedMs }: SessionEnd): void {
    const before = this.#failures.get(member);
    const wasFailing = before?.isFailing === true;
    const isReplaced = reason === replacedReason || reason === replacingReason;
    const shortMs = wasFailing || isReplaced ? stableSessionMs : shortSessionMs;
    const isShort = lastedMs !== undefined && lastedMs < shortMs;
    // A line that breaks between two faults does not end their series.
    if (before?.isFault && !isFault) return;
    if (!isFault && !isShort) {
      if (lastedMs !== undefined) this.over(member);
      return;
    }
    const nowMs = this.#clock.monotonicMs();
    const isSoon = before !== undefined && nowMs - before.lastMs < soonMs;
    const isSameReason = isFault ? before?.isFault === true : isSoon && kindOf(before.reason) === kindOf(reason);
    const count = before !== undefined && (wasFailing || isSameReason) ? before.count + 1 : 1;
    const limits = isFault ? faultWait : shortWait;
    const isFailing = wasFailing || countsAsFailing({ reason, isFault, count });
    const waitMs = isFailing ? backoffMs(count - 1, limits, this.#clock.random()) : 0;
    const failures = {
      name,
      reason,
      isFault,
      count,
      isFailing,
      lastMs: nowMs,
      dialAtMs: nowMs + waitMs,
      // A quarter of the shortest wait of the other side, whose count may be one less.
      acceptAtMs: nowMs + waitMs / 8,
    };
    this.#failures.set(member, failures);
    if (isFailing) this.#problems.set('session-failing', { member: name }, detailOf(failures), forgetAfterMs);
  }

  /** Clears the failures of a member that sent a `leave`, left, or has had a session for long enough. */
  over(member: MemberId): void {
    const failures = this.#failures.get(member);
    if (failures === undefined) return;
    this.#failures.delete(member);
    this.#problems.clear('session-failing', { member: failures.name });
  }

  /** Forgets members without an attempt for `forgetAfterMs`. Must be called regularly. */
  expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [member, { lastMs }] of this.#failures) if (nowMs - lastMs > forgetAfterMs) this.over(member);
  }

  /** Milliseconds to wait before the member is dialled; 0 for now. */
  dialWaitMs(member: MemberId): number {
    return Math.max(0, (this.#failures.get(member)?.dialAtMs ?? 0) - this.#clock.monotonicMs());
  }

  /** Why a session that the member opened is refused now; undefined if it is accepted. */
  refusal(member: MemberId): string | undefined {
    const failures = this.#failures.get(member);
    const waitMs = (failures?.acceptAtMs ?? 0) - this.#clock.monotonicMs();
    if (failures === undefined || waitMs <= 0) return undefined;
    return `${failures.count} sessions failed; the next is taken in ${Math.ceil(waitMs / 1_000)} s`;
  }

  /** Ends all waits: a user asked to try again now. */
  retry(): void {
    for (const [member, failures] of this.#failures) {
      this.#failures.set(member, { ...failures, dialAtMs: 0, acceptAtMs: 0 });
    }
  }

  /** Whether sessions with any member are failing. */
  get areAny(): boolean {
    return [...this.#failures.values()].some(({ isFailing }) => isFailing);
  }
}

/** The reason without the code of the system's error. On a line that damages bytes each session may end with another code. */
function kindOf(reason: string): string {
  return reason.replace(/ \([^)]*\)$/, '');
}

/** A removed member is refused with a reason that leaves no doubt, so its first failure counts. */
function countsAsFailing({ reason, isFault, count }: Pick<Failures, 'reason' | 'isFault' | 'count'>): boolean {
  if (removerIn(reason) !== undefined) return true;
  return count >= (isFault ? faultsMax : shortSessionsMax);
}

function whatToDo({ name, reason, isFault }: Failures): string {
  const who = { [replacedReason]: 'this member', [replacingReason]: name }[reason];
  if (who !== undefined) {
    return (
      `Two agents may run as ${who}: in a folder and in a copy of it. Stop one; to keep both, remove .lockstep from the copy and run ` +
      'lockstep init there. If there is only one, check the network between the two.'
    );
  }
  if (reason === differingReason || reason === sealedReason) {
    return (
      'A machine was set back to a snapshot, and the repair fails. Stop one of the two, move journal.db* out of its .lockstep and start ' +
      'it: its journal is rebuilt. Report this with both logs.'
    );
  }
  if (reason.endsWith(noRoomReason)) return 'Free some space on the disk of its .lockstep: nothing is lost meanwhile.';
  if (reason.includes(unwritableReason)) return 'See its problems and its log: nothing is lost meanwhile.';
  return isFault
    ? 'Install the same version of Lockstep on both members; if it is the same, report this with both logs.'
    : `Check the network between the two, and whether the agent of ${name} ends repeatedly.`;
}

function detailOf(failures: Failures): string {
  const { name, reason, count } = failures;
  if (removerIn(reason) !== undefined) {
    return (
      `${name} refuses this member: ${reason}. If it is to stay out, stop this agent: the files stay as they are. Lockstep tries again ` +
      'automatically, at growing intervals.'
    );
  }
  return (
    `Sessions with ${name} keep failing (${count} times): ${reason}. Until one lasts, little or nothing comes directly from one to the other. ` +
    `${whatToDo(failures)} Lockstep tries again automatically, at growing intervals.`
  );
}
