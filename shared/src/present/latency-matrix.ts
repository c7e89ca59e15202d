import type { MemberReport } from '../api.ts';
import type { MemberCondition } from '../member-condition.ts';
import { conditionPhrase, conditionWords, isAway, isOffOnPurpose } from './condition.ts';
import { formatCount, formatNames, formatRoundTrip } from './units.ts';

/** The age of a state below which a member may not have connected to all others yet, or the information about it may be old. */
const settledMs = 5_000;

/** The state of one member's connection to another. */
export type Way =
  | { readonly kind: 'self' }
  | { readonly kind: 'known'; readonly rttMs: number }
  /** Both are up, others reach them, and they have no session with each other. */
  | { readonly kind: 'cut' }
  /** No member reaches the member of this name. */
  | { readonly kind: 'away'; readonly name: string; readonly condition: MemberCondition }
  /** The asked member has no information, or it is too early for it. */
  | { readonly kind: 'unknown' };

export interface Pair {
  readonly from: MemberReport;
  readonly to: MemberReport;
}

export interface Matrix {
  /** The members that have not left, the asked one first. */
  readonly members: readonly MemberReport[];
  /** One row for each member, in the same order: the row measured, the column was measured. */
  readonly rows: readonly (readonly Way[])[];
  /** Pairs that are cut off from each other, each once. */
  readonly cut: readonly Pair[];
}

/** The matrix of round trips, from the information that the asked member had at `now`. */
export function latencyMatrix({
  members: reports,
  now,
}: {
  readonly members: readonly MemberReport[];
  readonly now: number;
}): Matrix {
  const members = reports.filter(({ state }) => state !== 'left').map(withoutOldWays);
  const reached = new Set(members.filter(({ self }) => self).map(({ id }) => id));
  for (const { id, latenciesMs = {} } of members) {
    const ends = Object.keys(latenciesMs);
    if (ends.length > 0) reached.add(id);
    for (const end of ends) reached.add(end);
  }
  const rows = members.map((from) => members.map((to) => wayBetween(from, to, { reached, now })));
  const cut = members.flatMap((from, row) =>
    members.slice(row + 1).flatMap((to, rest) => (rows[row]?.[row + 1 + rest]?.kind === 'cut' ? { from, to } : [])),
  );
  return { members, rows, cut };
}

/** Drops the measurements of a member that is not heard: its sessions may have ended since. */
function withoutOldWays(member: MemberReport): MemberReport {
  return isAway(member.condition) ? { ...member, latenciesMs: undefined } : member;
}

/** A member that has not caught up knows only the members that its part of the log names. */
const newcomers: readonly MemberReport['state'][] = ['joining', 'syncing'];

function wayBetween(
  from: MemberReport,
  to: MemberReport,
  { reached, now }: { readonly reached: ReadonlySet<string>; readonly now: number },
): Way {
  if (from.id === to.id) return { kind: 'self' };
  const rttMs = from.latenciesMs?.[to.id];
  if (rttMs !== undefined) return { kind: 'known', rttMs };
  for (const { id, name, condition } of [to, from]) {
    if (isOffOnPurpose(condition) || (!reached.has(id) && condition !== 'unknown'))
      return { kind: 'away', name, condition };
  }
  // A member that was not heard yet, and that no other one reaches, may as well be down.
  if ([from, to].some(({ id, condition }) => condition === 'unknown' && !reached.has(id))) return { kind: 'unknown' };
  // A session serves both directions: if one end has measured, the other is about to.
  const isOpen = to.latenciesMs?.[from.id] !== undefined || isSessionOfAsked(from, to);
  const isSettled = [from, to].every(
    ({ state, stateSince = 0 }) => !newcomers.includes(state) && now - stateSince >= settledMs,
  );
  const isTold = from.latenciesMs !== undefined || to.latenciesMs !== undefined;
  return !isOpen && isSettled && isTold ? { kind: 'cut' } : { kind: 'unknown' };
}

/** The asked member knows its own sessions before it has measured them. */
function isSessionOfAsked(from: MemberReport, to: MemberReport): boolean {
  return (from.self && to.connected) || (to.self && from.connected);
}

/** A way in words. */
export function describeWay(way: Way): string {
  switch (way.kind) {
    case 'self':
      return 'itself';
    case 'known':
      return formatRoundTrip(way.rttMs);
    case 'cut':
      return 'cut off';
    case 'away':
      return `${way.name} ${conditionPhrase(way.condition)}`;
    case 'unknown':
      return 'not known';
  }
}

/** A way in the fewest words, for a cell under the member's name. */
export function shortWay(way: Way): string {
  return way.kind === 'away' ? conditionWords(way.condition) : describeWay(way);
}

/** The matrix in one sentence. */
export function matrixSentence({ members, rows, cut }: Matrix): string {
  const known = members.flatMap((from, row) =>
    members.flatMap((to, column) => {
      const way = rows[row]?.[column];
      return way?.kind === 'known' ? [{ from, to, rttMs: way.rttMs }] : [];
    }),
  );
  known.sort((a, b) => a.rttMs - b.rttMs);
  const slowest = known.at(-1);
  if (slowest === undefined) return 'No round trip is known now.';
  const middle = known[Math.floor((known.length - 1) / 2)]?.rttMs ?? slowest.rttMs;
  const speed =
    known.length === 1
      ? `${slowest.from.name} to ${slowest.to.name} takes ${formatRoundTrip(slowest.rttMs)}.`
      : `Half of the round trips take ${formatRoundTrip(middle)} or less, the longest ${formatRoundTrip(slowest.rttMs)} (${slowest.from.name} to ${slowest.to.name}).`;
  const [pair] = cut;
  if (pair === undefined) return speed;
  if (cut.length === 1) return `${pair.from.name} and ${pair.to.name} are cut off from each other. ${speed}`;
  return `${cut.length} pairs are cut off from each other. ${speed}`;
}

/** The members that have a session with both, and a verb: the proof that neither is down. Empty if there are none. */
export function whoReachesBoth({ members, rows }: Matrix, { from, to }: Pair): string {
  const columns = [members.indexOf(from), members.indexOf(to)];
  const reaches = (row: number) => columns.every((column) => rows[row]?.[column]?.kind === 'known');
  const names = members.flatMap(({ name }, row) => (reaches(row) ? name : []));
  if (names.length > 3) return `${formatCount(names.length)} others reach`;
  return names.length === 0 ? '' : `${formatNames(names)} ${names.length === 1 ? 'reaches' : 'reach'}`;
}
