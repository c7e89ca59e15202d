import type { MemberId } from '@lockstep/shared';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { LatencyHistory } from './latency-history.ts';

/** The round trips in one direction of a pair since they were last taken. */
interface Taken {
  readonly from: MemberId;
  readonly to: MemberId;
  readonly rttsMs: readonly number[];
  /** The longest single round trip, if this member measured it. */
  readonly peakMs: number | undefined;
}

/** A function that returns the round trips since its last call: of all pairs, or only of those that this member measures. */
export function latencyIntake(engine: {
  readonly context: Context;
  readonly peers: Peers;
  readonly latencies: LatencyHistory;
}): (all: boolean) => readonly Taken[] {
  const { context, peers, latencies } = engine;
  let takenMs = Number.NEGATIVE_INFINITY;
  return (all) => {
    const sinceMs = takenMs;
    takenMs = context.clock.monotonicMs();
    const self = context.self.id;
    const others = peers.all().filter(({ state }) => state !== 'left');
    const own = others.map((peer) => {
      const peakMs = peer.rttPeakMs;
      peer.rttPeakMs = undefined;
      return { from: self, to: peer.id, rttsMs: latencies.since(self, peer.id, sinceMs), peakMs };
    });
    if (!all) return own;
    const ids = [self, ...others.map(({ id }) => id)];
    const theirs = others.flatMap(({ id: from }) =>
      ids
        .filter((to) => to !== from)
        .map((to) => ({ from, to, rttsMs: latencies.since(from, to, sinceMs), peakMs: undefined })),
    );
    return [...own, ...theirs];
  };
}
