import type { ServedMember } from '../../http/served-member.ts';
import { replayInto } from '../../offline/replay.ts';
import type { Machine } from '../world/machine.ts';

/** A simulated member with a running agent, in the form that the HTTP server serves. */
export function servedMember(machine: Machine): ServedMember {
  const { engine, address, wall } = machine;
  if (engine === undefined) throw new Error(`the agent of ${machine.name} does not run`);
  return {
    engine,
    place: { folder: '/srv/office', address, dashboard: '', startedAt: Math.floor(wall.preciseMs()) },
    joinRecipe: { lead: 'No machine can join a simulated cluster.', commands: [] },
    retired: () => machine.stop(),
    replay: (into, signal) => replayInto(engine, into, signal),
  };
}
