import type { MemberReport, Status } from '@lockstep/shared/api';
import { formatCount, formatItems, formatNames } from '../parts/format.ts';

/** `good`: nothing to do. `busy`: it will be good by itself. `held`: somebody paused a member. `bad`: a person should look. */
export type Tone = 'good' | 'busy' | 'held' | 'bad';

export interface ClusterSentence {
  readonly tone: Tone;
  readonly text: string;
}

/** One sentence on the whole cluster as the member that answers sees it: the worst that is true, first. */
export function clusterSentence(status: Status): ClusterSentence {
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
  const down = members.filter(({ state, paused }) => state === 'down' && paused !== true);
  if (down.length > 0) {
    return { tone: 'bad', text: `${are(down)} down${restOf(status, members, down)}.` };
  }
  if (status.problemCount > 0) {
    return { tone: 'bad', text: `${formatItems(status.problemCount, 'problem')} on ${status.member.name} to look at.` };
  }
  const troubled = members.filter((member) => !member.self && (member.problems ?? 0) > 0);
  if (troubled.length > 0) {
    return {
      tone: 'bad',
      text: `${formatNames(names(troubled))} ${troubled.length === 1 ? 'has' : 'have'} problems to look at.`,
    };
  }
  const paused = members.filter((member) => member.paused === true);
  if (paused.length > 0) return { tone: 'held', text: `${are(paused)} paused${restOf(status, members, paused)}.` };
  const silent = members.filter(({ state }) => state === 'suspect');
  if (silent.length > 0) return { tone: 'busy', text: `${formatNames(names(silent))} did not answer just now.` };
  const coming = members.filter(({ state }) => state === 'joining' || state === 'syncing');
  const [first] = coming;
  if (first !== undefined) return { tone: 'busy', text: `${are(coming)} catching up${progressOf(coming, first)}.` };
  if (status.conflicts > 0) {
    return {
      tone: 'busy',
      text: `${formatItems(status.conflicts, 'file')} ${status.conflicts === 1 ? 'has' : 'have'} conflicting versions; copies are on the way.`,
    };
  }
  const behind = members.filter((member) => member.behind > 0);
  const [slow] = behind;
  if (slow !== undefined) {
    return {
      tone: 'busy',
      text:
        behind.length === 1
          ? `${slow.name} is ${formatItems(slow.behind, 'operation')} behind.`
          : `${are(behind)} behind.`,
    };
  }
  if (status.pending > 0)
    return { tone: 'busy', text: `${formatItems(status.pending, 'file')} on the way to ${status.member.name}.` };
  if (!status.synchronised) return { tone: 'busy', text: 'Changes are on their way.' };
  if (members.length === 1) return { tone: 'good', text: `${status.member.name} is alone and waits for others.` };
  const all = members.length === 2 ? 'Both members have' : `All ${formatCount(members.length)} members have`;
  return { tone: 'good', text: `${all} the same files.` };
}

function names(members: readonly MemberReport[]): string[] {
  return members.map(({ name }) => name);
}

/** `ant is`, `ant and bee are`. */
function are(members: readonly MemberReport[]): string {
  return `${formatNames(names(members))} ${members.length === 1 ? 'is' : 'are'}`;
}

/** How those are that are not away. */
function restOf(status: Status, members: readonly MemberReport[], away: readonly MemberReport[]): string {
  const others = members.length - away.length;
  const same = members.every((member) => away.includes(member) || (member.state === 'active' && member.behind === 0));
  if (others < 2 || !same || status.pending > 0) return '';
  return others === 2
    ? '; the other two have the same files'
    : `; the other ${formatCount(others)} have the same files`;
}

function progressOf(coming: readonly MemberReport[], { catchUp }: MemberReport): string {
  if (coming.length !== 1 || catchUp === undefined || catchUp.total === 0) return '';
  return `: ${formatCount(catchUp.done)} of ${formatItems(catchUp.total, 'operation')}`;
}
