import { expect, test } from 'vitest';
import { LoneMember } from '../../sim/lone-member.ts';
import { Lifecycle } from './lifecycle.ts';

test('the state of a member follows from its phase, with the time since when', async () => {
  const member = new LoneMember();
  const lifecycle = new Lifecycle(member.context);
  const beganMs = lifecycle.stateSince;
  const states: unknown[] = [];
  for (const phase of ['greeting', 'pulling', 'scanning', 'applying', 'active'] as const) {
    await member.passes(1_000);
    expect(lifecycle.enter(phase)).toBe(true);
    states.push([lifecycle.state, lifecycle.stateSince - beganMs]);
  }
  expect(states).toEqual([
    ['joining', 0],
    ['syncing', 2_000],
    ['syncing', 2_000],
    ['syncing', 2_000],
    ['active', 5_000],
  ]);
  expect(lifecycle.enabledAt).toBe(lifecycle.stateSince);
});

test('a member that leaves enters no further phase, and notifies its loops once', () => {
  const { context } = new LoneMember();
  const lifecycle = new Lifecycle(context);
  let leavings = 0;
  context.facts.leaving.on(() => leavings++);
  lifecycle.enter('pulling');
  expect([lifecycle.leave(), lifecycle.leave()]).toEqual([true, false]);
  expect(lifecycle.enter('active')).toBe(false);
  expect([leavings, lifecycle.phase, lifecycle.state]).toEqual([1, 'leaving', 'syncing']);
});

test('a phase that has passed cannot be entered again', () => {
  const lifecycle = new Lifecycle(new LoneMember().context);
  lifecycle.enter('scanning');
  expect(() => lifecycle.enter('pulling')).toThrow('pulling comes before scanning');
});
