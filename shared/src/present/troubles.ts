import type { MemberReport, Status } from '../api.ts';
import { latencyMatrix, type Matrix } from './latency-matrix.ts';

/** Another member that needs a person, and why. */
export interface MemberTrouble {
  readonly member: MemberReport;
  readonly why: 'stopped' | 'down' | 'problems';
}

/**
 * The other members that need a person: who is down cannot mend itself, and who has problems tells of them itself. Who is paused is so
 * because a person wanted it.
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
 * `members` without those that the asked one cannot reach and others can: to it they look down, and they are cut off from it. That is
 * a trouble of the pair.
 */
export function withoutReached(members: readonly MemberReport[], { cut }: Matrix): readonly MemberReport[] {
  const beyond = new Set(cut.flatMap(({ from, to }) => (from.self ? to.id : to.self ? from.id : [])));
  return members.filter(({ id }) => !beyond.has(id));
}

/** How many things the view of problems lists. */
export function troubleCount(status: Status): number {
  return status.problemCount + memberTroubles(status).length + latencyMatrix(status).cut.length;
}

/** This member has others and a session with none of them. */
export function isCutOff({ members }: Status): boolean {
  const others = members.filter(({ self, state }) => !self && state !== 'left');
  return others.length > 0 && others.every(({ connected }) => !connected);
}

/**
 * Why what this page shows of the other members may be old: because the member that serves it is in trouble itself. A sentence, or
 * undefined while that is not so.
 */
export function ownTrouble(status: Status): string | undefined {
  const { name, state } = status.member;
  if (state === 'left') return undefined;
  if (status.paused) {
    return `${name} is paused, so what is shown of other members is what was last heard, and may be old.`;
  }
  if (status.problems.some(({ code }) => code === 'folder-missing')) {
    return `${name} has lost its own folder. What is shown of its files is what it last saw.`;
  }
  if (isCutOff(status)) {
    return `${name} is connected to nobody, so what is shown of other members is what was last heard, and may be old.`;
  }
  return undefined;
}
