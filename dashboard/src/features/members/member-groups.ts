import type { MemberReport } from '@lockstep/shared/api';

/** The groups of members, those that need attention most urgently first. */
export const memberGroups = [
  'down',
  'problems',
  'paused',
  'shut-down',
  'cut-off',
  'silent',
  'unknown',
  'syncing',
  'away',
  'active',
  'left',
] as const;

export type MemberGroup = (typeof memberGroups)[number];

/** From this number on, members are sorted by need of attention, counted, and can be filtered. */
export const crowdMin = 9;

/** A member's condition, except that problems come before what matters less. */
export function groupOf({ condition, problems = 0 }: MemberReport): MemberGroup {
  if (['left', 'away', 'down', 'paused', 'shut-down'].includes(condition)) return condition as MemberGroup;
  if (problems > 0) return 'problems';
  return condition === 'joining' ? 'syncing' : condition;
}

/**
 * Many members sorted by need of attention; a few in their given order. The lag does not count: it changes every second, and rows that
 * move cannot be read.
 */
export function sortedByNeed(members: readonly MemberReport[]): readonly MemberReport[] {
  if (members.length < crowdMin) return members;
  const rank = (member: MemberReport) => memberGroups.indexOf(groupOf(member));
  return members.toSorted((a, b) => rank(a) - rank(b));
}

/** The members with this part in their name or an address, and in this group unless it is null. */
export function narrowed(
  members: readonly MemberReport[],
  { part, group }: { readonly part: string; readonly group: string | null },
): readonly MemberReport[] {
  const wanted = part.trim().toLowerCase();
  return members.filter(
    (member) =>
      (group === null || groupOf(member) === group) &&
      [member.name, ...member.addresses].some((text) => text.toLowerCase().includes(wanted)),
  );
}
