import type { MemberReport } from '@lockstep/shared/api';
import {
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

const stateColours: Readonly<Record<MemberReport['state'], Colour>> = {
  joining: 'cyan',
  syncing: 'cyan',
  active: 'green',
  suspect: 'yellow',
  down: 'red',
  left: 'dim',
};

/** A member's state, coloured, with the share of the bytes that it has while it is catching up. */
export function formatState(
  member: Pick<MemberReport, 'state' | 'stopped' | 'paused' | 'progress'>,
  paint: Paint,
): string {
  if (member.paused === true) return paint('yellow', 'paused');
  if (member.stopped === true) return paint(stateColours[member.state], `${member.state} (stopped)`);
  const share = member.progress === undefined ? '' : ` ${percentOf(member.progress)} %`;
  return paint(stateColours[member.state], member.state + share);
}

function formatBehind(member: MemberReport): string {
  if (member.state === 'left') return '-';
  if (member.progress !== undefined) return progressText(member.progress);
  if (member.behind === 0) return 'nothing';
  const age = member.behindSeconds > 0 ? `, ${formatElapsed(member.behindSeconds * 1000)}` : '';
  return formatItems(member.behind, 'operation') + age;
}

function formatSeen(member: MemberReport, nowMs: number): string {
  if (member.self || member.connected) return 'now';
  return member.lastSeenAt === undefined ? 'never' : formatAgo(member.lastSeenAt, nowMs);
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
      formatState(member, paint),
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
