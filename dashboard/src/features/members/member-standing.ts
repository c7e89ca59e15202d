import type { MemberReport } from '@lockstep/shared/api';

/** The standings of a member, those that need attention most urgently first. */
export const standings = ['down', 'problems', 'stopped', 'silent', 'syncing', 'paused', 'active', 'left'] as const;

export type Standing = (typeof standings)[number];

/** From this number on, members are sorted by need of attention, counted, and can be filtered. */
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
 * Many members sorted by need of attention; a few in their given order. The lag does not count: it changes every second, and rows that
 * move cannot be read.
 */
export function sortedByNeed(members: readonly MemberReport[]): readonly MemberReport[] {
  if (members.length < crowdMin) return members;
  const rank = (member: MemberReport) => standings.indexOf(standingOf(member));
  return members.toSorted((a, b) => rank(a) - rank(b));
}

/** The members with this part in their name or an address, and with this standing unless it is null. */
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
