import { LockstepError } from '@lockstep/shared';
import { noticeFreeBytesMin, noticeKinds } from '@lockstep/shared/present';
import { HealthWatch } from '../../health/health.ts';
import { answerControl } from '../../http/queries/control/answer-control.ts';
import { readStatus } from '../../http/queries/status.ts';
import type { ServedMember } from '../../http/served-member.ts';
import { replayInto } from '../../offline/replay.ts';
import { latencyIntake } from '../../sync/measurements/latency-intake.ts';
import type { Machine } from '../world/machine.ts';

/** A simulated member with a running agent, in the form that the HTTP server serves. The others let it pause them. */
export function servedMember(machine: Machine, machines: readonly Machine[]): ServedMember {
  const { engine, address } = machine;
  if (engine === undefined) throw new Error(`the agent of ${machine.name} does not run`);
  const place = { folder: '/srv/office', address, dashboard: '', startedMs: engine.context.clock.monotonicMs() };
  const health = new HealthWatch({
    path: ':memory:',
    settings: {
      notifyWebhook: '',
      notifyCommand: [],
      notifyAbout: noticeKinds,
      notifyAfterMs: 300_000,
      notifyFreeBytesMin: noticeFreeBytesMin,
    },
    problems: engine.context.problems,
    clock: engine.context.clock,
    log: engine.context.log,
    readStatus: () => readStatus(engine, place),
    sameWebhook: () => [],
    takeLatencies: latencyIntake(engine),
  });
  return {
    engine,
    place,
    health,
    settings: { read: noSettings, change: noSettings },
    control: {
      allows: 'pause',
      ask: async (_address, member, request) => {
        const asked = machines.find(({ engine: other }) => other?.context.self.id === member);
        if (asked === undefined) throw new LockstepError('unreachable', 'Its agent does not run.');
        return answerControl(servedMember(asked, machines), engine.context.self.id, request);
      },
    },
    joinRecipe: { lead: 'No machine can join a simulated cluster.', commands: [] },
    retired: () => machine.stop(),
    replay: (into, signal) => replayInto(engine, into, signal),
  };
}

function noSettings(): Promise<never> {
  throw new LockstepError('config-invalid', 'A simulated member has no config.toml.');
}
