import type { MemberId, MemberState } from '@lockstep/shared';
import { downAfterMs, suspectAfterMs } from '@lockstep/shared';

/** What this member knows of a peer when it judges the peer's state. */
export interface PeerSigns {
  /** By the member list. */
  readonly standing: 'joined' | 'left';
  /** There is a session with it now. */
  readonly connected: boolean;
  /** It said goodbye, and nothing was heard of it since. */
  readonly stopped?: boolean | undefined;
  /** What it last said of itself. */
  readonly saidState?: MemberState | undefined;
  /** Since anything was last heard of it; infinite when nothing ever was. */
  readonly silentMs: number;
}

/**
 * The state of a peer as this member sees it. What a peer says of itself counts only while it is connected and not silent; a
 * session that broke makes it suspect at once, for nothing can be heard of it until it is back; who said goodbye is not waited for.
 */
export function peerState(signs: PeerSigns): MemberState {
  if (signs.standing === 'left') return 'left';
  if (signs.silentMs >= downAfterMs || signs.stopped) return 'down';
  if (!signs.connected || signs.silentMs >= suspectAfterMs) return 'suspect';
  switch (signs.saidState) {
    case 'syncing':
    case 'active':
      return signs.saidState;
    default:
      // A member knows itself as joining, syncing or active; before it said anything it is joining.
      return 'joining';
  }
}

/** A member as the rules of seniority see it. */
export interface Seniority {
  readonly id: MemberId;
  readonly state: MemberState;
  /** When it last became active, milliseconds since the epoch. */
  readonly enabledAt?: number | undefined;
}

/** The oldest member: of the active ones, the one that became active first. All who know the same of the members agree. */
export function oldestActive<Member extends Seniority>(members: readonly Member[]): Member | undefined {
  return members.filter((member) => member.state === 'active').sort(compareAge)[0];
}

/**
 * The connected members to ask for the operations that this member lacks, in this order: the active ones from the oldest on,
 * then any other, for a member that is not active may still know what nobody else reachable does. The caller goes on to the
 * next one when one fails.
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

/** Members that never became active come last; equal ages are told apart by id, so that all members agree. */
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
 * Whether `existing` stays when a second session, `next`, comes up between `self` and `peer`; the other one is closed. When
 * both sides dialled at once, the session dialled by the smaller member id survives, so both sides decide alike. When the
 * same side dialled again, its first session is dead, whether or not this side has noticed: the new one survives.
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
