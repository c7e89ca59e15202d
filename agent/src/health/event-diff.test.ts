import type { MemberCondition, ProblemCode } from '@lockstep/shared';
import type { MemberReport, Status } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { compareHealth, type EventMemory, emptyMemory, eventMemorySchema } from './event-diff.ts';

function report(name: string, condition: MemberCondition = 'active', more: Partial<MemberReport> = {}): MemberReport {
  const state = condition === 'left' ? 'left' : 'active';
  const usual = { connected: true, rttMs: 1, behind: 0, behindSeconds: 0, addresses: [] };
  return { id: name, name, self: name === 'ant', state, condition, ...usual, ...more };
}

/** Plays statuses one after the other, and returns the events: `second kind member data`. */
class Watch {
  memory: EventMemory = emptyMemory;
  readonly seen: string[] = [];

  at(
    second: number,
    members: readonly MemberReport[],
    more: { codes?: readonly ProblemCode[]; conflicts?: number } = {},
  ): this {
    const problems = (more.codes ?? []).map((code) => ({ code, detail: '', since: 0 }));
    const status = {
      now: second * 1_000,
      member: { id: 'ant', name: 'ant' },
      members,
      problems,
      conflictCopies: more.conflicts ?? 0,
    } as unknown as Status;
    const { events, memory } = compareHealth(this.memory, status);
    // An agent that starts again has only what was stored.
    this.memory = eventMemorySchema.parse(JSON.parse(JSON.stringify(memory)));
    for (const { kind, member, data } of events) this.seen.push(`${second} ${kind} ${member} ${JSON.stringify(data)}`);
    return this;
  }
}

test('[HH4] a member that goes down and comes back is two events, however silent it was between', () => {
  const watch = new Watch().at(0, [report('ant'), report('bee')]);
  for (const [second, condition] of (
    ['silent', 'down', 'down', 'unknown', 'down', 'syncing', 'active'] as const
  ).entries()) {
    watch.at(10 + second, [report('ant'), report('bee', condition)]);
  }
  expect(watch.seen).toEqual(['11 down bee {}', '15 back bee {"was":"down","forMs":4000}']);
});

test('[HH4] pauses, ends in order, cuts, newcomers and removals are events, and the members of the first status are not', () => {
  const watch = new Watch()
    .at(0, [report('ant'), report('bee', 'paused'), report('old', 'left')])
    .at(1, [report('ant'), report('bee'), report('cat'), report('old', 'left')])
    .at(2, [report('ant', 'paused'), report('bee', 'unknown'), report('cat', 'unknown')])
    .at(3, [report('ant'), report('bee', 'shut-down'), report('cat', 'cut-off')])
    .at(4, [report('ant'), report('bee'), report('cat', 'left', { removedBy: 'ant' })]);
  expect(watch.seen).toEqual([
    '0 paused bee {}',
    '1 back bee {"was":"paused","forMs":1000}',
    '1 joined cat {}',
    '2 paused ant {}',
    '3 back ant {"was":"paused","forMs":1000}',
    '3 shut-down bee {}',
    '3 cut-off cat {}',
    '4 back bee {"was":"shut-down","forMs":1000}',
    '4 left cat {"by":"ant"}',
  ]);
});

test('[HH4] each problem of a member is one event, and is over after a minute without it', () => {
  const full = report('bee', 'active', { problems: 1, worstProblem: 'disk-full' });
  const watch = new Watch().at(0, [report('ant'), full], { codes: ['path-io', 'path-io'] });
  watch
    .at(10, [report('ant'), report('bee')])
    .at(20, [report('ant'), full])
    .at(30, [report('ant'), report('bee', 'down')]);
  expect(watch.seen).toEqual([
    '0 problem ant {"code":"path-io"}',
    '0 problem bee {"code":"disk-full"}',
    '30 down bee {}',
  ]);
  watch
    .at(500, [report('ant'), report('bee', 'down')])
    .at(510, [report('ant'), report('bee')])
    .at(570, [report('ant'), report('bee')]);
  expect(watch.seen.slice(3)).toEqual([
    '500 problem-over ant {"code":"path-io"}',
    '510 back bee {"was":"down","forMs":480000}',
    '570 problem-over bee {"code":"disk-full"}',
  ]);
});

test('[HH4] conflicts of one minute are one event, and so is their end', () => {
  const watch = new Watch();
  for (const [second, conflicts] of [
    [100, 1],
    [105, 4],
    [110, 9],
    [159, 9],
    [160, 9],
    [200, 3],
    [300, 0],
    [305, 0],
  ] as const) {
    watch.at(second, [report('ant')], { conflicts });
  }
  expect(watch.seen).toEqual([
    '100 conflict ant {"count":1}',
    '160 conflict ant {"count":8}',
    '300 conflicts-settled ant {}',
  ]);
});

test('[HH4] a member that may be away goes away and comes back; without the mark it is down', () => {
  const watch = new Watch().at(0, [report('ant'), report('bee')]);
  for (const [second, condition] of (
    ['silent', 'away', 'unknown', 'away', 'active', 'away', 'down'] as const
  ).entries()) {
    watch.at(10 + second, [report('ant'), report('bee', condition)]);
  }
  expect(watch.seen).toEqual([
    '11 away bee {}',
    '14 back bee {"was":"away","forMs":3000}',
    '15 away bee {}',
    '16 down bee {}',
  ]);
});
