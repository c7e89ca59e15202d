import type { MemberReport, Status } from '../api.ts';
import { isGrave } from '../error-code.ts';
import { isAway } from './condition.ts';
import { latencyMatrix, whoReachesBoth } from './latency-matrix.ts';
import { memberProblems } from './member-problems.ts';
import { problemWords } from './problem-words.ts';
import { formatBytes, formatItems } from './units.ts';
import { hearsNoOther, knowsOnlyItself } from './verdict.ts';

/** The kinds of causes for which people are told. */
export const noticeKinds = ['down', 'conflict', 'disk', 'problem'] as const;

export type NoticeKind = (typeof noticeKinds)[number];

/** The free space below which people are told, unless set otherwise. */
export const noticeFreeBytesMin = 1024 ** 3;

/** One reason to tell a person, of which a person is told once. */
export interface Cause {
  /** The same on every member, and as long as the cause lasts. */
  readonly key: string;
  readonly kind: NoticeKind;
  /** Id of the member that it is about. */
  readonly member: string;
  /** A sentence without a full stop. It names no path: it leaves the machine. */
  readonly text: string;
  /** Since when, if that is known. */
  readonly since?: number | undefined;
  /** How many there are of it, if more can come. */
  readonly count?: number | undefined;
}

/** Problems of the disk under the folder. */
const diskProblems: ReadonlySet<string> = new Set([
  'path-io',
  'file-damaged',
  'disk-full',
  'sync-failed',
  'folder-missing',
  'mount-changed',
  'folder-stalled',
  'state-unusable',
]);

/** The grave things in what the verdict on the cluster says, and disks that are nearly full: the causes to tell a person of. */
export function causesOf(status: Status, freeBytesMin: number): readonly Cause[] {
  const { member } = status;
  if (member.state === 'left') return [];
  const own = ownCauses(status, freeBytesMin);
  if (knowsOnlyItself(status)) return own;
  if (hearsNoOther(status)) {
    const text = `${member.name} hears none of the other members: it may be cut off`;
    return [{ key: aloneKey(member.id), kind: 'down', member: member.id, text }, ...own];
  }
  const others = memberProblems(status).flatMap(({ member: other, why }) => {
    if (why === 'down') return [downCause(other)];
    return why === 'problems' ? problemCauses(other, [other.worstProblem ?? 'unknown'], other.problems ?? 1) : [];
  });
  const near = status.members.filter(({ self, condition }) => !self && condition !== 'left' && !isAway(condition));
  return [...others, ...near.flatMap((other) => roomCauses(other, freeBytesMin)), ...cutCauses(status), ...own].filter(
    // A full disk has a problem and no room: one cause.
    ({ key }, index, all) => all.findIndex((other) => other.key === key) === index,
  );
}

/**
 * True while nothing is known of what a cause is about, so that its absence does not mean that it is over: the asked member is paused
 * or alone, the other one is away, or a disk that was nearly full is not there.
 */
export function isHidden(status: Status, { key, kind, member }: Pick<Cause, 'key' | 'kind' | 'member'>): boolean {
  if (member === status.member.id) return key === roomKey(member) && status.freeBytes === undefined;
  if (knowsOnlyItself(status) || hearsNoOther(status)) return true;
  const other = status.members.find(({ id }) => id === member);
  if (other === undefined || other.condition === 'left') return false;
  const { condition, freeBytes } = other;
  if (kind === 'down') return condition === 'unknown' || condition === 'silent';
  return isAway(condition) || (key === roomKey(member) && freeBytes === undefined);
}

/** The key of the cause that a member is down. */
export function downKey(id: string): string {
  return `down ${id}`;
}

/** The key of the cause that a member hears no other one. */
export function aloneKey(id: string): string {
  return `alone ${id}`;
}

/** Causes that the asked member knows whatever it hears: its own problems and disk, and the conflicts in its folder. */
function ownCauses(status: Status, freeBytesMin: number): readonly Cause[] {
  const { member, problems, conflictCopies, freeBytes } = status;
  const codes = problems.filter(({ code }) => isGrave(code)).map(({ code }) => code);
  const text = `${formatItems(conflictCopies, 'conflict')} ${conflictCopies === 1 ? 'waits' : 'wait'} for a choice`;
  return [
    ...problemCauses(member, [...new Set(codes)], 1),
    ...(codes.includes('disk-full') ? [] : roomCauses({ ...member, freeBytes }, freeBytesMin)),
    ...(conflictCopies > 0
      ? [{ key: 'conflict', kind: 'conflict' as const, member: member.id, text, count: conflictCopies }]
      : []),
  ];
}

function downCause({ id, name, stateSince }: MemberReport): Cause {
  return { key: downKey(id), kind: 'down', member: id, text: `${name} is down`, since: stateSince };
}

/** A cause for each grave code. Of another member only the worst one is known, and the number of all. */
function problemCauses(
  { id, name }: Pick<MemberReport, 'id' | 'name'>,
  codes: readonly string[],
  count: number,
): readonly Cause[] {
  return codes
    .filter((code) => isGrave(code))
    .map((code) => ({
      key: code === 'disk-full' ? roomKey(id) : `problem ${id} ${code}`,
      kind: diskProblems.has(code) ? 'disk' : 'problem',
      member: id,
      text:
        count === 1
          ? `${name} has a problem: ${problemWords(code)}`
          : `${name} has ${formatItems(count, 'problem')}, ${problemWords(code)} the worst`,
    }));
}

function roomCauses(
  { id, name, freeBytes }: Pick<MemberReport, 'id' | 'name' | 'freeBytes'>,
  freeBytesMin: number,
): readonly Cause[] {
  if (freeBytes === undefined || freeBytes >= freeBytesMin) return [];
  const text = `${name} has only ${formatBytes(freeBytes)} of free disk space`;
  return [{ key: roomKey(id), kind: 'disk', member: id, text }];
}

function roomKey(id: string): string {
  return `room ${id}`;
}

/** Pairs that are cut off, and that no other member serves. */
function cutCauses(status: Status): readonly Cause[] {
  const matrix = latencyMatrix(status);
  return matrix.cut
    .filter((pair) => whoReachesBoth(matrix, pair) === '')
    .map(({ from, to }) => {
      const [first, second] = [from.id, to.id].sort();
      const text = `${from.name} and ${to.name} are cut off from each other, and no other member reaches both`;
      return { key: `cut ${first} ${second}`, kind: 'down', member: from.self ? to.id : from.id, text };
    });
}
