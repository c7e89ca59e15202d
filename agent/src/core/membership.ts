import type { MemberCondition, MemberId, MemberState } from '@lockstep/shared';
import { downAfterMs } from '@lockstep/shared';

/** The facts from which this member judges a peer's state. */
export interface PeerSigns {
  /** By the member list. */
  readonly membership: 'joined' | 'left';
  /** There is a session with it now. */
  readonly connected: boolean;
  /** It stopped cleanly, and nothing was received from it since. */
  readonly stopped?: boolean | undefined;
  /** The state that it last reported. */
  readonly saidState?: MemberState | undefined;
  /** The time since it was last heard from; infinite if it never was. */
  readonly silentMs: number;
  /** The silence after which a member of this cluster is suspect. */
  readonly suspectAfterMs: number;
}

/**
 * The state of a peer as this member sees it. The state that a peer reports counts only while it is connected and not silent. A peer whose
 * session broke is suspect at once, because nothing can be heard from it. A peer that stopped cleanly is down at once.
 */
export function peerState(signs: PeerSigns): MemberState {
  if (signs.membership === 'left') return 'left';
  if (signs.silentMs >= downAfterMs || signs.stopped) return 'down';
  if (!signs.connected || signs.silentMs >= signs.suspectAfterMs) return 'suspect';
  switch (signs.saidState) {
    case 'syncing':
    case 'active':
      return signs.saidState;
    default:
      // A member reports itself as joining, syncing or active; until its first report it is joining.
      return 'joining';
  }
}

/** The facts from which the condition of a peer is told to people. */
export interface ConditionSigns {
  readonly state: MemberState;
  readonly connected: boolean;
  /** How it left in order, if it did and has not returned. */
  readonly gone: 'stopped' | 'paused' | undefined;
  /** Another member passes on what it says. */
  readonly isPassedOn: boolean;
  /** It was heard, directly or through another member, since this agent was started. */
  readonly wasHeard: boolean;
  /** By the member list: its machine is off at times. */
  readonly mayBeAway: boolean;
  /** This member itself is paused: it hears no other one. */
  readonly isPausedHere: boolean;
}

/** The condition of a peer, for people. */
export function peerCondition(signs: ConditionSigns): MemberCondition {
  const { state, connected, gone, mayBeAway } = signs;
  if (state === 'left') return 'left';
  if (!connected) {
    if (signs.isPausedHere) return 'unknown';
    if (gone === 'paused') return 'paused';
    if (gone === 'stopped') return mayBeAway ? 'away' : 'shut-down';
    if (signs.isPassedOn) return 'cut-off';
  }
  if (state === 'down') return mayBeAway ? 'away' : 'down';
  if (state === 'suspect') return signs.wasHeard ? 'silent' : 'unknown';
  return state;
}

/** A member as the rules of seniority see it. */
export interface Seniority {
  readonly id: MemberId;
  readonly state: MemberState;
  /** When it last became active, milliseconds since the epoch. */
  readonly enabledAt?: number | undefined;
}

/** The oldest member: of the active ones, the one that became active first. All members with the same knowledge agree. */
export function oldestActive<Member extends Seniority>(members: readonly Member[]): Member | undefined {
  return members.filter((member) => member.state === 'active').sort(compareAge)[0];
}

/**
 * The connected members to ask for the operations that this member lacks, in this order: the active ones from the oldest on, then any
 * other. A member that is not active may know what no other reachable member does. The caller goes on to the next one when one fails.
 */
export function catchUpOrder<Member extends Seniority & { readonly connected: boolean }>(
  members: readonly Member[],
): readonly Member[] {
  return members
    .filter((member) => member.connected && member.state !== 'left')
    .sort((a, b) => rankForCatchUp(a.state) - rankForCatchUp(b.state) || compareAge(a, b));
}

function rankForCatchUp(state: MemberState): number {
  switch (state) {
    case 'active':
      return 0;
    case 'syncing':
      return 1;
    case 'joining':
      return 2;
    default:
      return 3;
  }
}

/** Compares by age. Members that never became active come last; the id decides between equal ages, so that all members agree. */
function compareAge(a: Seniority, b: Seniority): number {
  const [ageA, ageB] = [a.enabledAt ?? Number.POSITIVE_INFINITY, b.enabledAt ?? Number.POSITIVE_INFINITY];
  if (ageA !== ageB) return ageA < ageB ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}

/** The least number of members that is more than half of `count`. */
export function majorityOf(count: number): number {
  return Math.floor(count / 2) + 1;
}

/**
 * True if `existing` stays when a second session, `next`, comes up between `self` and `peer`; the other one is closed. If both sides
 * dialled at once, the session dialled by the smaller member id survives, so both sides decide alike. If the same side dialled again, its
 * first session is dead, whether or not this side has noticed: the new one survives.
 */
export function shouldKeepLink(
  existing: { readonly dialled: boolean },
  next: { readonly dialled: boolean },
  self: MemberId,
  peer: MemberId,
): boolean {
  if (existing.dialled === next.dialled) return false;
  return existing.dialled === self < peer;
}
