import type { MemberCondition } from '@lockstep/shared';
import type { MemberReport } from '@lockstep/shared/api';
import {
  conditionWords,
  formatAgo,
  formatBytes,
  formatCount,
  formatElapsed,
  formatItems,
  formatRoundTrip,
  percentOf,
  progressText,
} from '@lockstep/shared/present';
import { shortId } from './format.ts';
import { formatTable } from './table.ts';
import type { Colour, Paint } from './terminal.ts';

const conditionColours: Readonly<Record<MemberCondition, Colour>> = {
  left: 'dim',
  paused: 'yellow',
  'shut-down': 'yellow',
  unknown: 'dim',
  'cut-off': 'yellow',
  away: 'dim',
  down: 'red',
  silent: 'yellow',
  joining: 'cyan',
  syncing: 'cyan',
  active: 'green',
};

/** A member's condition, coloured, with the share of the bytes that it has while it is catching up. */
export function formatCondition(
  { condition, progress, removedBy }: Pick<MemberReport, 'condition' | 'progress' | 'removedBy'>,
  paint: Paint,
): string {
  if (condition === 'left' && removedBy !== undefined) return paint(conditionColours.left, 'removed');
  const share = progress === undefined ? '' : ` ${percentOf(progress)} %`;
  return paint(conditionColours[condition], conditionWords(condition) + share);
}

function formatBehind(member: MemberReport): string {
  if (member.state === 'left') return '-';
  if (member.progress !== undefined) return progressText(member.progress);
  if (member.behind === 0) return 'nothing';
  const age = member.behindSeconds > 0 ? `, ${formatElapsed(member.behindSeconds * 1000)}` : '';
  return formatItems(member.behind, 'operation') + age;
}

function formatSeen(member: MemberReport, nowMs: number): string {
  if (member.self || member.via !== undefined) return 'now';
  // The connection of a silent member stands, and nothing comes over it.
  if (member.connected && member.condition !== 'silent') return 'now';
  return member.lastSeenAt === undefined ? 'not since start' : formatAgo(member.lastSeenAt, nowMs);
}

/** The members as a table. */
export function formatMembers(members: readonly MemberReport[], nowMs: number, paint: Paint): string {
  return formatTable(
    [
      { title: 'NAME' },
      { title: 'ID' },
      { title: 'STATE' },
      { title: 'ROUND TRIP', align: 'right' },
      { title: 'BEHIND', align: 'right' },
      { title: 'FILES', align: 'right' },
      { title: 'SIZE', align: 'right' },
      { title: 'FREE', align: 'right' },
      { title: 'SEEN' },
      { title: 'ADDRESS' },
    ],
    members.map((member) => [
      member.self ? `${member.name} (here)` : member.name,
      paint('dim', shortId(member.id)),
      formatCondition(member, paint),
      member.rttMs === null ? '-' : formatRoundTrip(member.rttMs),
      formatBehind(member),
      member.files === undefined ? '-' : formatCount(member.files),
      member.bytes === undefined ? '-' : formatBytes(member.bytes),
      member.freeBytes === undefined ? '-' : formatBytes(member.freeBytes),
      formatSeen(member, nowMs),
      member.addresses[0] ?? '-',
    ]),
  );
}
