import type { MemberReport, Status } from '../api.ts';
import { latencyMatrix } from './latency-matrix.ts';

/** Another member that needs a person, and why. */
export interface MemberProblem {
  readonly member: MemberReport;
  readonly why: 'down' | 'problems' | 'paused' | 'shut-down';
}

/**
 * The other members that need a person: those that are down, paused or shut down, and those that report problems. A paused member
 * hears nothing of the others, so it knows of none.
 */
export function memberProblems(status: Status): readonly MemberProblem[] {
  if (status.paused) return [];
  return status.members.flatMap((member): MemberProblem[] => {
    const { condition, problems = 0 } = member;
    if (member.self || condition === 'left') return [];
    if (condition === 'down' || condition === 'paused' || condition === 'shut-down')
      return [{ member, why: condition }];
    return problems > 0 ? [{ member, why: 'problems' }] : [];
  });
}

/** The number of items in the view of problems. */
export function problemItemCount(status: Status): number {
  return status.problemCount + memberProblems(status).length + latencyMatrix(status).cut.length;
}

/** True when the cluster has other members, and this one hears none of them although not all of them are shut down. */
export function isCutOff({ members }: Status): boolean {
  const others = members.filter(({ self, condition }) => !self && condition !== 'left');
  const areHeard = others.some(({ connected, via }) => connected || via !== undefined);
  return !areHeard && others.some(({ condition }) => condition === 'down');
}

/** The reason why this member's view of the others may be old: it has a problem itself. A sentence, or undefined. */
export function staleViewReason(status: Status): string | undefined {
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
