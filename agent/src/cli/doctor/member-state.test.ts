import type { Status } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { checkAgent } from './member-state.ts';

test('[DR1] the agent says how long it has been up, by its own clock', async () => {
  const status = { paused: false, problemCount: 0, now: 1_090_000, member: { startedAt: 1_000_000 } } as Status;
  const running = { pid: 7, status };
  const rest = { config: undefined, identity: undefined, clusterKey: undefined };
  const subject = { directory: '/srv/shared', state: '/srv/shared/.lockstep', running, nowMs: () => 0, ...rest };
  const detail = 'The agent (process 7) has been up for 1 min 30 s and reports no problem.';
  expect(await checkAgent(subject)).toEqual([expect.objectContaining({ level: 'ok', detail })]);
});
