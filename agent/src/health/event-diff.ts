import { type MemberCondition, memberConditions } from '@lockstep/shared';
import type { HealthEvent, MemberReport, Status } from '@lockstep/shared/api';
import { isAway } from '@lockstep/shared/present';
import { z } from 'zod';

/** The parts of the last status with which the next one is compared. */
export const eventMemorySchema = z.object({
  members: z.record(z.string(), z.object({ condition: z.enum(memberConditions), since: z.number() })),
  /** The problems, by member and code, and when each was first seen to be gone. */
  problems: z.record(
    z.string(),
    z.object({ member: z.string(), name: z.string(), code: z.string(), goneAt: z.number().optional() }),
  ),
  conflicts: z.number(),
  conflictAt: z.number(),
});

export type EventMemory = z.infer<typeof eventMemorySchema>;

export type NewEvent = Pick<HealthEvent, 'kind' | 'member' | 'name' | 'data'>;

export const emptyMemory: EventMemory = { members: {}, problems: {}, conflicts: 0, conflictAt: 0 };

/** A problem is over when it was gone for this long: one that comes and goes is one event. */
const problemOverMs = 60_000;

/** New conflicts within this time are one event. */
const conflictMs = 60_000;

/** The events between the remembered status and this one. */
export function compareHealth(
  memory: EventMemory,
  status: Status,
): { events: readonly NewEvent[]; memory: EventMemory } {
  const { now } = status;
  const events: NewEvent[] = [];
  const members: EventMemory['members'] = {};
  const isFirst = Object.keys(memory.members).length === 0;
  for (const report of status.members) {
    const before = memory.members[report.id];
    const condition = lasting(report.condition) ?? before?.condition;
    if (condition === undefined) continue;
    const isSame = before !== undefined && before.condition === condition;
    members[report.id] = isSame ? before : { condition, since: now };
    const event = isSame ? undefined : memberEvent(report, condition, before, isFirst, now);
    if (event !== undefined) events.push(event);
  }
  const problems = compareProblems(memory, status, events);
  return { events, memory: { members, problems, ...compareConflicts(memory, status, events) } };
}

/** The conditions between which a change is an event; undefined for one that passes. */
function lasting(condition: MemberCondition): MemberCondition | undefined {
  if (condition === 'unknown' || condition === 'silent') return undefined;
  return condition === 'joining' || condition === 'syncing' ? 'active' : condition;
}

function memberEvent(
  { id, name, self, removedBy }: MemberReport,
  condition: MemberCondition,
  before: EventMemory['members'][string] | undefined,
  isFirst: boolean,
  now: number,
): NewEvent | undefined {
  const about = { member: id, name };
  if (condition === 'active') {
    if (before === undefined) return self || isFirst ? undefined : { kind: 'joined', ...about, data: {} };
    if (before.condition === 'left') return { kind: 'joined', ...about, data: {} };
    return { kind: 'back', ...about, data: { was: before.condition, forMs: Math.max(0, now - before.since) } };
  }
  if (condition === 'left') {
    // Members that had left before are not news.
    return before === undefined ? undefined : { kind: 'left', ...about, data: { by: removedBy } };
  }
  switch (condition) {
    case 'away':
    case 'down':
    case 'paused':
    case 'shut-down':
    case 'cut-off':
      return { kind: condition, ...about, data: {} };
    default:
      return undefined;
  }
}

function compareProblems(memory: EventMemory, status: Status, events: NewEvent[]): EventMemory['problems'] {
  const { now, members } = status;
  const present = new Map(
    members.flatMap((report) =>
      codesOf(status, report).map((code) => [`${report.id} ${code}`, { member: report.id, name: report.name, code }]),
    ),
  );
  const problems: EventMemory['problems'] = {};
  for (const [key, problem] of present) {
    if (memory.problems[key] === undefined) {
      const { code, ...about } = problem;
      events.push({ kind: 'problem', ...about, data: { code } });
    }
    problems[key] = problem;
  }
  for (const [key, problem] of Object.entries(memory.problems)) {
    if (present.has(key)) continue;
    const report = members.find(({ id }) => id === problem.member);
    const isKnown = report === undefined || report.self || !isAway(report.condition);
    const goneAt = isKnown ? (problem.goneAt ?? now) : undefined;
    if (goneAt !== undefined && now - goneAt >= problemOverMs) {
      const { code, member, name } = problem;
      events.push({ kind: 'problem-over', member, name, data: { code } });
    } else problems[key] = { ...problem, goneAt };
  }
  return problems;
}

/** Of another member only the worst problem is known, and nothing while it is away. */
function codesOf(
  { problems }: Status,
  { self, condition, worstProblem, problems: count = 0 }: MemberReport,
): readonly string[] {
  if (self) return [...new Set(problems.map(({ code }) => code))];
  return worstProblem === undefined || count === 0 || condition === 'left' || isAway(condition) ? [] : [worstProblem];
}

function compareConflicts(
  { conflicts, conflictAt }: EventMemory,
  { conflictCopies: count, member, now }: Status,
  events: NewEvent[],
): Pick<EventMemory, 'conflicts' | 'conflictAt'> {
  const about = { member: member.id, name: member.name };
  if (count === 0 && conflicts > 0) events.push({ kind: 'conflicts-settled', ...about, data: {} });
  if (count <= conflicts) return { conflicts: count, conflictAt };
  if (now - conflictAt < conflictMs) return { conflicts, conflictAt };
  events.push({ kind: 'conflict', ...about, data: { count: count - conflicts } });
  return { conflicts: count, conflictAt: now };
}
