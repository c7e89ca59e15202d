import type { MemberReport, Status } from '../api.ts';
import { isGrave } from '../error-code.ts';
import type { MemberCondition } from '../member-condition.ts';
import { removerIn } from '../removal.ts';
import { isAway } from './condition.ts';
import { latencyMatrix, type Matrix, whoReachesBoth } from './latency-matrix.ts';
import { isCutOff } from './member-problems.ts';
import { are, behindText, have, listed, namedMax, problemSentence, problemsOf, progressOf } from './member-words.ts';
import { lackingText, shortRuleText } from './on-demand-words.ts';
import { formatCount, formatItems, formatNames } from './units.ts';

/**
 * The tone of a part. `good`: nothing to do. `busy`: it becomes good without a person. `held`: it waits for a person, and nothing is
 * at risk. `bad`: a person should look now.
 */
export type Tone = 'good' | 'busy' | 'held' | 'bad';

/** The view in which a person sees more of a part, and can act. */
export type Subject =
  | { readonly view: 'members' | 'problems' | 'conflicts' | 'transfers' | 'latency' | 'operations' }
  | { readonly view: 'member'; readonly id: string }
  | { readonly view: 'pair'; readonly from: string; readonly to: string };

/** One thing that is true of the cluster. */
export interface VerdictPart {
  readonly tone: Tone;
  /** A part of a sentence, without a full stop. */
  readonly text: string;
  readonly about: Subject;
}

/** The state of the cluster in one sentence. */
export interface Verdict {
  /** The gravest tone of the parts. */
  readonly tone: Tone;
  readonly text: string;
  /** The parts of the sentence, the gravest first. */
  readonly parts: readonly [VerdictPart, ...VerdictPart[]];
  /** The end of the sentence, which reports no part, as in `; the other two hold everything.` */
  readonly rest: string;
}

const tones: readonly Tone[] = ['bad', 'held', 'busy', 'good'];

/** The verdict on the whole cluster as the answering member sees it: everything that needs a person, the gravest first. */
export function clusterVerdict(status: Status): Verdict {
  const found = knowsOnlyItself(status) ? ownParts(status) : partsOf(status);
  const [first, ...others] = found.toSorted((a, b) => tones.indexOf(a.tone) - tones.indexOf(b.tone));
  const parts: Verdict['parts'] = first === undefined ? [wholePart(status)] : [first, ...others];
  const rest = `${restOf(status, parts)}.`;
  return { tone: parts[0].tone, text: parts.map(({ text }) => text).join('; ') + rest, parts, rest };
}

/** True when what the member knows of the others is old, or concerns it no more. */
export function knowsOnlyItself(status: Status): boolean {
  return isOutside(status) || status.paused || isRefused(status);
}

/** True when the answering member has left the cluster, or was removed from it. */
export function isOutside(status: Status): boolean {
  return status.member.state === 'left' || removerOf(status) !== undefined;
}

/** The parts about the answering member itself. */
function ownParts(status: Status): readonly VerdictPart[] {
  const { name, state } = status.member;
  if (state === 'left') {
    return [
      part('bad', `${name} has left the cluster. Its files stay and are no longer replicated`, { view: 'members' }),
    ];
  }
  const remover = status.paused ? undefined : removerOf(status);
  if (remover !== undefined) {
    const text = `${name} was removed from the cluster by ${remover}: the others refuse it, and its files are no longer replicated`;
    return [part('bad', text, { view: 'problems' })];
  }
  if (isRefused(status)) {
    return [part('bad', `Every member that ${name} reached refuses it`, { view: 'problems' })];
  }
  const text = `${name} is paused: it takes nothing from the others and gives them nothing until it is resumed`;
  const own = status.members.filter(({ self }) => self);
  return [part('held', text, { view: 'members' }), ...problemParts(status, own), ...choiceParts(status)];
}

function partsOf(status: Status): readonly VerdictPart[] {
  const members = status.members.filter(({ condition }) => condition !== 'left');
  const matrix = latencyMatrix(status);
  const down = members.filter(({ condition }) => condition === 'down');
  const away = hearsNoOther(status) ? [lonelyPart(status, down)] : awayParts(members);
  const found = [
    ...away,
    ...problemParts(status, members),
    ...cutParts(matrix),
    ...shortParts(status),
    ...comingParts(status, members),
  ];
  return [
    ...found,
    // A conflict may wait for days, and does not hide that something is on its way.
    ...choiceParts(status),
    ...(found.length > 0 ? [] : movingParts(status, members)),
    ...copiesParts(members),
    ...expectedParts(status, members),
  ];
}

/** Members that are away as a person expects it. No person needs to act, but what they lack or alone have is said. */
function expectedParts(status: Status, members: readonly MemberReport[]): readonly VerdictPart[] {
  const away = members.filter(({ condition }) => condition === 'away');
  if (away.length === 0) return [];
  const [only] = away.length === 1 ? away : [];
  const lacks = only !== undefined && only.behind > 0 ? `, ${formatItems(only.behind, 'operation')} behind` : '';
  const ahead = away.filter((each) => isAhead(each, status));
  const who = only === undefined ? `${have(ahead)}` : 'has';
  const has = ahead.length === 0 ? '' : `, and ${who} changes that ${status.member.name} does not know yet`;
  return [part('good', `${are(away)} away${lacks}${has}`, aboutMembers(away))];
}

/** True when several members are down and none is heard: it is more likely cut off itself than the only one running. */
export function hearsNoOther(status: Status): boolean {
  return isCutOff(status) && status.members.filter(({ condition }) => condition === 'down').length > 1;
}

function lonelyPart({ member }: Status, down: readonly MemberReport[]): VerdictPart {
  const others =
    down.length > namedMax
      ? `any of the other ${formatCount(down.length)} members`
      : formatNames(
          down.map(({ name }) => name),
          'or',
        );
  return part('bad', `${member.name} does not hear ${others}: it may be cut off`, { view: 'members' });
}

/** Members that are down, paused or shut down. */
function awayParts(members: readonly MemberReport[]): readonly VerdictPart[] {
  const conditions = [
    ['bad', 'down'],
    ['held', 'paused'],
    ['held', 'shut-down'],
  ] as const;
  return conditions.flatMap(([tone, condition]) => {
    const those = members.filter((member) => member.condition === condition);
    const words = condition === 'shut-down' ? 'shut down' : condition;
    return those.length === 0 ? [] : [part(tone, `${are(those)} ${words}`, aboutMembers(those))];
  });
}

/** Members with problems: the grave ones one by one, the others counted together. */
function problemParts(status: Status, members: readonly MemberReport[]): readonly VerdictPart[] {
  const withProblems = members
    .filter((member) => problemsOf(status, member) > 0 && !isAway(member.condition))
    .sort((a, b) => b.behind - a.behind || problemsOf(status, b) - problemsOf(status, a));
  const [worst, ...grave] = withProblems.filter((member) => isGrave(member.worstProblem ?? 'unknown'));
  const minor = withProblems.filter((member) => !isGrave(member.worstProblem ?? 'unknown'));
  const [first, ...rest] = minor;
  return [
    ...(worst === undefined ? [] : [part('bad', problemSentence(status, worst), aboutProblems([worst]))]),
    ...(grave.length === 0 ? [] : [part('bad', `${have(grave)} problems too`, aboutProblems(grave))]),
    ...(first !== undefined && rest.length === 0
      ? [part('held', problemSentence(status, first), aboutProblems([first]))]
      : []),
    ...(rest.length === 0 ? [] : [part('held', `${have(minor)} problems`, aboutProblems(minor))]),
  ];
}

/** Pairs that are cut off. Nothing is at risk while another member passes on what each of the two makes. */
function cutParts(matrix: Matrix): readonly VerdictPart[] {
  const [pair, ...others] = matrix.cut;
  if (pair === undefined) return [];
  const tone = matrix.cut.every((each) => whoReachesBoth(matrix, each) !== '') ? 'held' : 'bad';
  if (others.length > 0) {
    const pairs = formatCount(matrix.cut.length);
    return [part(tone, `${pairs} pairs of members are cut off from each other`, { view: 'latency' })];
  }
  const { from, to } = pair;
  const reached = whoReachesBoth(matrix, pair);
  const text = `${from.name} and ${to.name} are cut off from each other${reached === '' ? '' : `, and ${reached} both`}`;
  return [part(tone, text, { view: 'pair', from: from.id, to: to.id })];
}

/** Conflicts stop nothing, and wait until a person chooses. */
function choiceParts({ conflictCopies: count }: Status): readonly VerdictPart[] {
  if (count === 0) return [];
  const text = `${formatItems(count, 'conflict')} ${count === 1 ? 'waits' : 'wait'} for a choice`;
  return [part('held', text, { view: 'conflicts' })];
}

/** Files have fewer copies than a person wants, until there are more members or the rule is another one. */
function shortParts({ shortRules = [] }: Status): readonly VerdictPart[] {
  return shortRules.map((rule) => part('held', shortRuleText(rule), { view: 'members' }));
}

/** Members that make copies. Those that have no room have a problem. */
function copiesParts(members: readonly MemberReport[]): readonly VerdictPart[] {
  return members.flatMap((member) => {
    const { lackingCopies: lacking, condition, name } = member;
    if (lacking === undefined || lacking.isFull || isAway(condition)) return [];
    return [part('busy', `${name} ${lackingText(lacking)}`, aboutMembers([member]))];
  });
}

/** Members that are not here yet, or that are about to be. */
function comingParts({ member }: Status, members: readonly MemberReport[]): readonly VerdictPart[] {
  const those = (...conditions: readonly MemberCondition[]) =>
    members.filter(({ condition }) => conditions.includes(condition));
  const [unknown, silent, coming] = [those('unknown'), those('silent'), those('joining', 'syncing')];
  const answered = unknown.length === 1 ? 'has' : 'have';
  return [
    unknown.length > 0 &&
      part(
        'busy',
        `${member.name} was just started: ${listed(unknown)} ${answered} not answered yet`,
        aboutMembers(unknown),
      ),
    silent.length > 0 && part('busy', `${are(silent)} silent`, aboutMembers(silent)),
    coming.length > 0 && part('busy', `${are(coming)} catching up${progressOf(coming)}`, { view: 'transfers' }),
  ].filter((each) => each !== false);
}

/** The part about work in progress: the first of these that is true. */
function movingParts(status: Status, members: readonly MemberReport[]): readonly VerdictPart[] {
  const { conflicts, conflictCopies, pending, member, synchronised } = status;
  if (conflicts > 0) {
    const text = `${formatItems(conflicts, 'file')} ${conflicts === 1 ? 'has' : 'have'} conflicting versions; copies are on the way`;
    return [part('busy', text, { view: 'operations' })];
  }
  const here = members.filter(({ condition }) => condition !== 'away');
  const behind = here.filter((each) => each.behind > 0).sort((a, b) => b.behind - a.behind);
  if (behind.length > 0) return [part('busy', behindText(behind), { view: 'transfers' })];
  if (pending > 0) {
    return [part('busy', `${formatItems(pending, 'file')} on the way to ${member.name}`, { view: 'transfers' })];
  }
  const ahead = here.filter((each) => isAhead(each, status));
  if (ahead.length > 0) {
    return [part('busy', `${have(ahead)} changes that ${member.name} does not know yet`, { view: 'operations' })];
  }
  const isKnownWhy = members.some((each) => each.condition === 'away' && isAhead(each, status));
  // The least that can be said, and only if nothing else is.
  return synchronised || isKnownWhy || conflictCopies > 0
    ? []
    : [part('busy', 'Changes are on their way', { view: 'operations' })];
}

/** All is well. */
function wholePart({ members, member }: Status): VerdictPart {
  const joined = members.filter(({ condition }) => condition !== 'left');
  const { length } = joined;
  if (length === 1) return part('good', `${member.name} is alone and waits for others`, { view: 'members' });
  const all = length === 2 ? 'Both members' : `All ${formatCount(length)} members`;
  const onDemand = joined.filter((each) => each.onDemand);
  const text = onDemand.length === 0 ? `${all} hold everything` : onDemandText(joined, onDemand, all);
  return part('good', text, { view: 'members' });
}

/** The members that have everything, in a cluster in which some members fetch contents on demand. */
function onDemandText(joined: readonly MemberReport[], onDemand: readonly MemberReport[], all: string): string {
  const full = joined.filter((each) => !each.onDemand);
  const verb = (members: readonly MemberReport[], one: string, several: string): string =>
    members.length === 1 ? one : several;
  if (full.length === 0) return `${all} know everything, and none has the whole folder`;
  return `${listed(full)} ${verb(full, 'holds', 'hold')} everything; ${listed(onDemand)} ${verb(onDemand, 'fetches', 'fetch')} contents on demand`;
}

function part(tone: Tone, text: string, about: Subject): VerdictPart {
  return { tone, text, about };
}

function aboutMembers(members: readonly MemberReport[]): Subject {
  const [only] = members;
  return only !== undefined && members.length === 1 ? { view: 'member', id: only.id } : { view: 'members' };
}

/** The problems of the answering member are listed by its own page; those of another one by its row. */
function aboutProblems(members: readonly MemberReport[]): Subject {
  return members.some(({ self }) => self) ? { view: 'problems' } : aboutMembers(members);
}

/** True when every member that answered refused this one, so it has no session. */
function isRefused({ members, problems }: Status): boolean {
  return (
    problems.some(({ code }) => code === 'member-refused') && members.every(({ self, connected }) => self || !connected)
  );
}

/** The name of the member that removed the answering one, as those that it reached say; undefined if it has a session or none said so. */
export function removerOf({ members }: Pick<Status, 'members'>): string | undefined {
  const others = members.filter(({ self, condition }) => !self && condition !== 'left');
  if (others.some(({ connected }) => connected)) return undefined;
  return others.map(({ lastError }) => removerIn(lastError)).find((name) => name !== undefined);
}

/** True when the member reported operations that the answering one lacks. */
function isAhead({ self, version = {} }: MemberReport, { version: known }: Status): boolean {
  const own: Readonly<Record<string, number>> = known;
  return !self && Object.entries(version).some(([origin, seq]) => seq > (own[origin] ?? 0));
}

/** The state of the members that are not away, if some are away and the others lack nothing. */
function restOf(status: Status, parts: readonly VerdictPart[]): string {
  const members = status.members.filter(({ condition }) => condition !== 'left');
  const away = members.filter(({ condition }) => isAway(condition));
  const others = members.length - away.length;
  const isSame = members.every(
    (member) => away.includes(member) || (member.condition === 'active' && member.behind === 0),
  );
  const isBusy = parts.some(({ tone }) => tone === 'busy');
  if (knowsOnlyItself(status) || away.length === 0 || others < 2 || isBusy || !isSame) return '';
  if (!status.synchronised || status.pending > 0) return '';
  const isAnyOnDemand = members.some((member) => member.onDemand && !away.includes(member));
  const is = isAnyOnDemand ? 'are up to date' : 'hold everything';
  // The sentence may have named some of them before, with their problems: "the other two" would be further ones.
  if (parts.some(({ about }) => isAboutOther(about, away)))
    return `; ${listed(members.filter((member) => !away.includes(member)))} ${is}`;
  return others === 2 ? `; the other two ${is}` : `; the other ${formatCount(others)} ${is}`;
}

/** Whether a part is about a member that is not one of these. */
function isAboutOther(about: Subject, members: readonly MemberReport[]): boolean {
  return about.view === 'problems' || (about.view === 'member' && members.every(({ id }) => id !== about.id));
}
