import type { Status } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { checkAgent } from './member-state.ts';

const startedAt = 1_000_000;

test.each([
  [startedAt + 90_000, 'The agent (process 7) has been up for 1 min 30 s and reports no problem.'],
  [startedAt - 3_600_000, 'The agent (process 7) is up and reports no problem.'],
])('[DR1] at %i of the clock, which may have been set back, the agent has no negative age', async (nowMs, detail) => {
  const status = { paused: false, problemCount: 0, member: { startedAt } } as Status;
  const running = { pid: 7, status };
  const rest = { config: undefined, identity: undefined, clusterKey: undefined };
  const subject = { directory: '/srv/shared', state: '/srv/shared/.lockstep', running, nowMs: () => nowMs, ...rest };
  expect(await checkAgent(subject)).toEqual([expect.objectContaining({ level: 'ok', detail })]);
});
