import type { MemberReport, Progress, Status } from '../api.ts';
import { problemWords } from './problem-words.ts';
import { shareText, timeLeftText } from './progress.ts';
import { formatCount, formatItems, formatNames } from './units.ts';

/** More names than this are counted. */
export const namedMax = 4;

/** `ant`, `ant and bee`, `12 members`. */
export function listed(members: readonly MemberReport[]): string {
  if (members.length > namedMax) return `${formatCount(members.length)} members`;
  return formatNames(members.map(({ name }) => name));
}

/** `ant is`, `ant and bee are`. */
export function are(members: readonly MemberReport[]): string {
  return `${listed(members)} ${members.length === 1 ? 'is' : 'are'}`;
}

/** `ant has`, `ant and bee have`. */
export function have(members: readonly MemberReport[]): string {
  return `${listed(members)} ${members.length === 1 ? 'has' : 'have'}`;
}

/** The members that are behind, with the one that is most behind. */
export function behindText(behind: readonly MemberReport[]): string {
  const [slow] = behind;
  if (slow === undefined) return '';
  const most = formatItems(slow.behind, 'operation');
  const share = behind.length === 1 && slow.progress !== undefined ? restText(slow.progress) : '';
  if (behind.every((member) => member.behind === slow.behind)) return `${are(behind)} ${most} behind${share}`;
  return `${formatCount(behind.length)} members are behind, ${slow.name} most: ${most}`;
}

/** The answering member's problems are counted from its status, which is newer than its row. */
export function problemsOf(status: Status, member: MemberReport): number {
  return member.self ? status.problemCount : (member.problems ?? 0);
}

/**
 * `cat is 1,204 operations behind: disk full`, `ant has 2 problems: disk full and others`. Of another member only the number of problems and
 * the worst code are known: `cat has 2 problems, disk full the worst`.
 */
export function problemSentence(status: Status, member: MemberReport): string {
  const { name, behind, self, worstProblem } = member;
  const count = problemsOf(status, member);
  const main =
    behind > 0
      ? `${name} is ${formatItems(behind, 'operation')} behind`
      : `${name} has ${formatItems(count, 'problem')}`;
  if (worstProblem === undefined) return main;
  const words = problemWords(worstProblem);
  if (self && status.problems.some(({ code }) => code !== worstProblem)) return `${main}: ${words} and others`;
  return self || behind > 0 || count === 1 ? `${main}: ${words}` : `${main}, ${words} the worst`;
}

/** `: 145 MB of 436 MB, 1 min left`. */
function restText(progress: Progress): string {
  const left = progress.bytesPerSecond === 0 ? 'stalled' : timeLeftText(progress.secondsLeft);
  return `: ${shareText(progress)}${left === undefined ? '' : `, ${left}`}`;
}

/** Bytes, and operations if it lacks no bytes. */
export function progressOf(coming: readonly MemberReport[]): string {
  const [first] = coming;
  if (first === undefined || coming.length !== 1) return '';
  if (first.progress !== undefined) return restText(first.progress);
  if (first.catchUp === undefined || first.catchUp.total === 0) return '';
  return `: ${formatCount(first.catchUp.done)} of ${formatItems(first.catchUp.total, 'operation')}`;
}
