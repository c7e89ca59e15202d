import type { MemberReport } from '@lockstep/shared/api';

/** How a member stands: who needs a person most urgently, first. */
export const standings = ['down', 'problems', 'stopped', 'silent', 'syncing', 'paused', 'active', 'left'] as const;

export type Standing = (typeof standings)[number];

/** More members than these are not taken in at one look: they are sorted by need, counted, and can be narrowed down. */
export const crowdMin = 9;

export function standingOf({ state, stopped, paused, problems = 0 }: MemberReport): Standing {
  if (state === 'left') return 'left';
  if (paused === true) return 'paused';
  if (state === 'down') return stopped === true ? 'stopped' : 'down';
  if (problems > 0) return 'problems';
  if (state === 'suspect') return 'silent';
  return state === 'active' ? 'active' : 'syncing';
}

/**
 * A crowd with those first that need a person; a few as they came. How far somebody is behind does not count: it changes by the second,
 * and rows that move cannot be read.
 */
export function sortedByNeed(members: readonly MemberReport[]): readonly MemberReport[] {
  if (members.length < crowdMin) return members;
  const rank = (member: MemberReport) => standings.indexOf(standingOf(member));
  return members.toSorted((a, b) => rank(a) - rank(b));
}

/** Those with this part of a name or address, and of this standing, where one is given. */
export function narrowed(
  members: readonly MemberReport[],
  { part, standing }: { readonly part: string; readonly standing: string | null },
): readonly MemberReport[] {
  const wanted = part.trim().toLowerCase();
  return members.filter(
    (member) =>
      (standing === null || standingOf(member) === standing) &&
      [member.name, ...member.addresses].some((text) => text.toLowerCase().includes(wanted)),
  );
}
