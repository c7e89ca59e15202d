import { LockstepError, type MemberId } from '@lockstep/shared';
import {
  type Latencies,
  type LatencyHistory,
  type LatencyHistoryQuery,
  latencySampleMs,
  type RecentLatencies,
} from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';

/** The number of samples that fit into a small chart. */
const recentPointsMax = 60;

/** The round trips of every ordered pair of members that have not left. */
export function readLatencies(engine: Engine): Latencies {
  const ids = membersOf(engine);
  const wallAt = wallClockOf(engine);
  const latencies = ids.flatMap((from) =>
    ids
      .filter((to) => to !== from)
      .map((to) => {
        const { rttMs, lastKnownMs } = engine.latencies.now(from, to);
        return { from, to, rttMs: rttMs ?? null, at: lastKnownMs === undefined ? null : wallAt(lastKnownMs) };
      }),
  );
  return { latencies };
}

/** The round trips of one pair over the last hour. Throws `request-invalid` for an unknown member. */
export function readLatencyHistory(engine: Engine, { from, to }: LatencyHistoryQuery): LatencyHistory {
  const wallAt = wallClockOf(engine);
  const samples = engine.latencies
    .samples(knownMember(engine, from), knownMember(engine, to))
    .map(({ atMs, rttMs }) => ({ at: wallAt(atMs), rttMs: rttMs ?? null }));
  return { from, to, everyMs: latencySampleMs, samples };
}

/** The asked member's own measurements over the last hour. */
export function readRecentLatencies(engine: Engine): RecentLatencies {
  const [self, ...others] = membersOf(engine);
  const members = others.map((member) => ({
    member,
    samples:
      self === undefined ? [] : engine.latencies.thinned(self, member, recentPointsMax).map((rttMs) => rttMs ?? null),
  }));
  return { everyMs: latencySampleMs * engine.latencies.groupSize(recentPointsMax), members };
}

/** The ids of the members that have not left, this one first. */
function membersOf(engine: Engine): readonly MemberId[] {
  const others = engine.peers.all().filter(({ state }) => state !== 'left');
  return [engine.context.self.id, ...others.map(({ id }) => id)];
}

/** The member of this id. Throws `request-invalid` for an unknown one. */
export function knownMember(engine: Engine, id: string): MemberId {
  const found = membersOf(engine).find((member) => member === id);
  if (found !== undefined) return found;
  throw new LockstepError('request-invalid', `No member of the cluster has the id ${JSON.stringify(id)}.`);
}

/** Converts moments of the monotonic clock to the wall clock as it is set now: the samples stay in order. */
function wallClockOf({ context: { clock } }: Engine): (atMs: number) => number {
  const offsetMs = clock.wallMs() - clock.monotonicMs();
  return (atMs) => Math.round(offsetMs + atMs);
}
