import { LockstepError, type MemberId } from '@lockstep/shared';
import {
  type Latencies,
  type LatencyHistory,
  type LatencyHistoryQuery,
  latencySampleMs,
  type RecentLatencies,
} from '@lockstep/shared/api';
import type { Engine } from '../../sync/engine.ts';

/** As many as a small chart has room for. */
const recentPointsMax = 60;

/** Every ordered pair of members that have not left. */
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

/** One pair over the last hour. */
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

/** This member first. */
function membersOf(engine: Engine): readonly MemberId[] {
  const others = engine.peers.all().filter(({ state }) => state !== 'left');
  return [engine.context.self.id, ...others.map(({ id }) => id)];
}

function knownMember(engine: Engine, id: string): MemberId {
  const found = membersOf(engine).find((member) => member === id);
  if (found !== undefined) return found;
  throw new LockstepError('request-invalid', `No member of the cluster has the id ${JSON.stringify(id)}.`);
}

/** What the wall clock, as it is set now, would have shown at a moment of the monotonic clock: the samples stay in order. */
function wallClockOf({ context: { clock } }: Engine): (atMs: number) => number {
  const offsetMs = clock.wallMs() - clock.monotonicMs();
  return (atMs) => Math.round(offsetMs + atMs);
}
