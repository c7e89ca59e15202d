import type { MemberReport, Progress, Status } from '../api.ts';
import { latencyMatrix, whoReachesBoth } from './latency-matrix.ts';
import { problemWords } from './problem-words.ts';
import { shareText, timeLeftText } from './progress.ts';
import { isCutOff, withoutReached } from './troubles.ts';
import { formatCount, formatItems, formatNames } from './units.ts';

/**
 * The tone of a verdict. `good`: nothing to do. `busy`: it becomes good without a person. `held`: a person paused a member. `bad`: a person should
 * look.
 */
export type Tone = 'good' | 'busy' | 'held' | 'bad';

/** The state of the cluster, in one sentence. */
export interface Verdict {
  readonly tone: Tone;
  readonly text: string;
}

/** The verdict on the whole cluster as the answering member sees it: the worst true statement. */
export function clusterVerdict(status: Status): Verdict {
  if (status.member.state === 'left') {
    return {
      tone: 'bad',
      text: `${status.member.name} has left the cluster. Its files stay and are no longer replicated.`,
    };
  }
  if (status.paused) {
    const { name } = status.member;
    return {
      tone: 'held',
      text: `${name} is paused: it takes nothing from the others and gives them nothing until it is resumed.`,
    };
  }
  const members = status.members.filter(({ state }) => state !== 'left');
  if (isRefused(status)) return { tone: 'bad', text: `Every member that ${status.member.name} reached refuses it.` };
  const matrix = latencyMatrix(status);
  const down = withoutReached(members, matrix).filter(({ state, paused }) => state === 'down' && paused !== true);
  const areStopped = down.every(({ stopped }) => stopped === true);
  // A member without any session is more likely to be cut off itself than to be the only one running.
  if (isCutOff(status) && members.length > 2 && !areStopped) {
    return {
      tone: 'bad',
      text: `${status.member.name} sees none of the other ${formatCount(members.length - 1)} members: it may be cut off.`,
    };
  }
  const troubled = members
    .filter((member) => problemsOf(status, member) > 0 && !down.includes(member))
    .sort((a, b) => b.behind - a.behind || problemsOf(status, b) - problemsOf(status, a));
  if (down.length > 0) {
    const rest = troubled.length > 0 ? `; ${have(troubled)} problems` : restOf(status, members, down);
    return { tone: 'bad', text: `${awayText(down)}${rest}.` };
  }
  const [worst, ...rest] = troubled;
  if (worst !== undefined) return { tone: 'bad', text: `${troubleOf(status, worst)}${alsoTroubled(rest)}.` };
  const [pair] = matrix.cut;
  if (pair !== undefined) {
    return {
      tone: 'bad',
      text:
        matrix.cut.length === 1
          ? `${pair.from.name} and ${pair.to.name} are cut off from each other${reachedBy(whoReachesBoth(matrix, pair))}.`
          : `${formatCount(matrix.cut.length)} pairs of members are cut off from each other.`,
    };
  }
  const paused = members.filter((member) => member.paused === true);
  if (paused.length > 0) return { tone: 'held', text: `${are(paused)} paused${restOf(status, members, paused)}.` };
  const silent = members.filter(({ state }) => state === 'suspect');
  if (silent.length > 0) return { tone: 'busy', text: `${are(silent)} silent.` };
  const coming = members.filter(({ state }) => state === 'joining' || state === 'syncing');
  const [first] = coming;
  if (first !== undefined) return { tone: 'busy', text: `${are(coming)} catching up${progressOf(coming, first)}.` };
  if (status.conflicts > 0) {
    return {
      tone: 'busy',
      text: `${formatItems(status.conflicts, 'file')} ${status.conflicts === 1 ? 'has' : 'have'} conflicting versions; copies are on the way.`,
    };
  }
  const behind = members.filter((member) => member.behind > 0).sort((a, b) => b.behind - a.behind);
  if (behind.length > 0) return { tone: 'busy', text: `${behindText(behind)}.` };
  if (status.pending > 0)
    return { tone: 'busy', text: `${formatItems(status.pending, 'file')} on the way to ${status.member.name}.` };
  const ahead = members.filter((member) => isAhead(member, status));
  if (ahead.length > 0)
    return { tone: 'busy', text: `${have(ahead)} changes that ${status.member.name} does not know yet.` };
  if (!status.synchronised) return { tone: 'busy', text: 'Changes are on their way.' };
  if (members.length === 1) return { tone: 'good', text: `${status.member.name} is alone and waits for others.` };
  const all = members.length === 2 ? 'Both members' : `All ${formatCount(members.length)} members`;
  return { tone: 'good', text: `${all} hold everything${choicesText(status.conflictCopies)}.` };
}

/** True when every member that answered refused this one, so it has no session. */
function isRefused({ members, problems }: Status): boolean {
  return (
    problems.some(({ code }) => code === 'member-refused') && members.every(({ self, connected }) => self || !connected)
  );
}

/** True when the member reported operations that the answering one lacks. */
function isAhead({ self, version = {} }: MemberReport, { version: known }: Status): boolean {
  const own: Readonly<Record<string, number>> = known;
  return !self && Object.entries(version).some(([origin, seq]) => seq > (own[origin] ?? 0));
}

function names(members: readonly MemberReport[]): string[] {
  return members.map(({ name }) => name);
}

/** More names than this are counted. */
const namedMax = 4;

/** `ant is`, `ant and bee are`, `12 members are`. */
function are(members: readonly MemberReport[]): string {
  if (members.length > namedMax) return `${formatCount(members.length)} members are`;
  return `${formatNames(names(members))} ${members.length === 1 ? 'is' : 'are'}`;
}

/** `ant has`, `ant and bee have`, `12 members have`. */
function have(members: readonly MemberReport[]): string {
  if (members.length > namedMax) return `${formatCount(members.length)} members have`;
  return `${formatNames(names(members))} ${members.length === 1 ? 'has' : 'have'}`;
}

/** `bee is down and cat is stopped`. */
function awayText(away: readonly MemberReport[]): string {
  const stopped = away.filter((member) => member.stopped === true);
  const lost = away.filter((member) => member.stopped !== true);
  return [lost.length > 0 && `${are(lost)} down`, stopped.length > 0 && `${are(stopped)} stopped`]
    .filter((part) => part !== false)
    .join(' and ');
}

/** The members that are behind, with the one that is most behind. */
function behindText(behind: readonly MemberReport[]): string {
  const [slow] = behind;
  if (slow === undefined) return '';
  const most = formatItems(slow.behind, 'operation');
  const share = behind.length === 1 && slow.progress !== undefined ? restText(slow.progress) : '';
  if (behind.every((member) => member.behind === slow.behind)) return `${are(behind)} ${most} behind${share}`;
  return `${formatCount(behind.length)} members are behind, ${slow.name} most: ${most}`;
}

/** Conflicts stop nothing, and wait until a person chooses. */
function choicesText(conflicts: number): string {
  if (conflicts === 0) return '';
  return `; ${formatItems(conflicts, 'conflict')} ${conflicts === 1 ? 'waits' : 'wait'} for a choice`;
}

/** The answering member's problems are counted from its status, which is newer than its row. */
function problemsOf(status: Status, member: MemberReport): number {
  return member.self ? status.problemCount : (member.problems ?? 0);
}

/** `cat is 1,204 operations behind: disk full`, `cat has 2 problems: disk full`. */
function troubleOf(status: Status, member: MemberReport): string {
  const reason = member.trouble === undefined ? '' : `: ${problemWords(member.trouble)}`;
  return member.behind > 0
    ? `${member.name} is ${formatItems(member.behind, 'operation')} behind${reason}`
    : `${member.name} has ${formatItems(problemsOf(status, member), 'problem')}${reason}`;
}

function alsoTroubled(rest: readonly MemberReport[]): string {
  const [only] = rest;
  if (only === undefined) return '';
  if (rest.length === 1) return `; ${only.name} has problems too`;
  return `; ${formatCount(rest.length)} more have problems too`;
}

function reachedBy(others: string): string {
  return others === '' ? '' : `; ${others} both`;
}

/** The state of the members that are not away. */
function restOf(status: Status, members: readonly MemberReport[], away: readonly MemberReport[]): string {
  const others = members.length - away.length;
  const same = members.every((member) => away.includes(member) || (member.state === 'active' && member.behind === 0));
  if (others < 2 || !same || !status.synchronised || status.pending > 0) return '';
  return others === 2 ? '; the other two hold everything' : `; the other ${formatCount(others)} hold everything`;
}

/** `: 145 MB of 436 MB, 1 min left`. */
function restText(progress: Progress): string {
  const left = progress.bytesPerSecond === 0 ? 'stalled' : timeLeftText(progress.secondsLeft);
  return `: ${shareText(progress)}${left === undefined ? '' : `, ${left}`}`;
}

/** Bytes, and operations if it lacks no bytes. */
function progressOf(coming: readonly MemberReport[], { catchUp, progress }: MemberReport): string {
  if (coming.length !== 1) return '';
  if (progress !== undefined) return restText(progress);
  if (catchUp === undefined || catchUp.total === 0) return '';
  return `: ${formatCount(catchUp.done)} of ${formatItems(catchUp.total, 'operation')}`;
}
