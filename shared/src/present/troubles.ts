import type { MemberReport, Status } from '../api.ts';
import { latencyMatrix, type Matrix } from './latency-matrix.ts';

/** Another member that needs a person, and why. */
export interface MemberTrouble {
  readonly member: MemberReport;
  readonly why: 'stopped' | 'down' | 'problems';
}

/**
 * The other members that need a person: those that are down, and those that report problems. A paused member
 * does not count, because a person paused it.
 */
export function memberTroubles(status: Status): readonly MemberTrouble[] {
  return withoutReached(status.members, latencyMatrix(status)).flatMap((member): MemberTrouble[] => {
    if (member.self || member.state === 'left') return [];
    if (member.state === 'down') {
      return member.paused === true ? [] : [{ member, why: member.stopped === true ? 'stopped' : 'down' }];
    }
    return (member.problems ?? 0) > 0 ? [{ member, why: 'problems' }] : [];
  });
}

/**
 * `members` without those that the asked one cannot reach and others can. To it they look down, but they are cut off from it: a problem of
 * the pair.
 */
export function withoutReached(members: readonly MemberReport[], { cut }: Matrix): readonly MemberReport[] {
  const beyond = new Set(cut.flatMap(({ from, to }) => (from.self ? to.id : to.self ? from.id : [])));
  return members.filter(({ id }) => !beyond.has(id));
}

/** The number of items in the view of problems. */
export function troubleCount(status: Status): number {
  return status.problemCount + memberTroubles(status).length + latencyMatrix(status).cut.length;
}

/** True when the cluster has other members and this one has a session with none of them. */
export function isCutOff({ members }: Status): boolean {
  const others = members.filter(({ self, state }) => !self && state !== 'left');
  return others.length > 0 && others.every(({ connected }) => !connected);
}

/** The reason why this member's view of the others may be old: it has a problem itself. A sentence, or undefined. */
export function ownTrouble(status: Status): string | undefined {
  const { name, state } = status.member;
  if (state === 'left') return undefined;
  if (status.paused) {
    return `${name} is paused. Its view of the other members is what it last heard from them, and may be old.`;
  }
  if (status.problems.some(({ code }) => code === 'folder-missing')) {
    return `${name} has lost its own folder. Its files are shown as it last saw them.`;
  }
  if (isCutOff(status)) {
    return `${name} is connected to no other member. Its view of them is what it last heard from them, and may be old.`;
  }
  return undefined;
}
