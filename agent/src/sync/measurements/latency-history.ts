import type { MemberId } from '@lockstep/shared';
import { latencyHistoryMs, latencySampleMs } from '@lockstep/shared/api';
import type { Peers } from '../members/peers.ts';

/** Number of samples of a pair. The largest cluster (64 members) has 4,032 pairs: 6 MB in all. */
const samplesMax = latencyHistoryMs / latencySampleMs;

/** The round trips that one member measured: one row of the matrix. */
export interface LatencyRow {
  readonly from: MemberId;
  /** Smoothed round trips, only to members with which it has a session. */
  readonly rttsMs: ReadonlyMap<MemberId, number>;
}

export interface LatencySample {
  /** On the monotonic clock. */
  readonly atMs: number;
  /** undefined: the two had no session, or no member reported one. */
  readonly rttMs: number | undefined;
}

interface Pair {
  /** The newest round trip; NaN while it is unknown. */
  rttMs: number;
  lastKnownMs: number;
  /** Number of samples before the first one of this pair. */
  readonly since: number;
  /** Indexed by the number of the sample, modulo its length. */
  readonly ring: Float32Array;
}

/**
 * Round trips between all members over the last hour, as measured by this member or reported by others. In memory only: a chart of
 * latencies is not worth a write to the disk every few seconds.
 */
export class LatencyHistory {
  readonly #pairs = new Map<MemberId, Map<MemberId, Pair>>();
  readonly #atMs = new Float64Array(samplesMax);
  #count = 0;
  #dueMs = Number.NEGATIVE_INFINITY;

  /** Notes the present rows of `members`, and drops the pairs of all others. Takes a sample if one is due. */
  note(nowMs: number, members: ReadonlySet<MemberId>, rows: readonly LatencyRow[]): void {
    this.#forget(members);
    for (const pair of this.#all()) pair.rttMs = Number.NaN;
    for (const { from, rttsMs } of rows) {
      if (!members.has(from)) continue;
      for (const [to, rttMs] of rttsMs) {
        if (to === from || !members.has(to)) continue;
        const pair = this.#pairs.get(from)?.get(to) ?? this.#create(from, to);
        pair.rttMs = rttMs;
        pair.lastKnownMs = nowMs;
      }
    }
    if (nowMs >= this.#dueMs) this.#sample(nowMs);
  }

  /** The newest round trip of a pair, and the time of its last measurement. */
  now(from: MemberId, to: MemberId): { readonly rttMs: number | undefined; readonly lastKnownMs: number | undefined } {
    const pair = this.#pairs.get(from)?.get(to);
    return { rttMs: known(pair?.rttMs), lastKnownMs: pair?.lastKnownMs };
  }

  /** The samples of a pair in the last hour, oldest first, from the first one with a round trip on. */
  samples(from: MemberId, to: MemberId): readonly LatencySample[] {
    const pair = this.#pairs.get(from)?.get(to);
    if (pair === undefined) return [];
    const samples: LatencySample[] = [];
    for (let number = Math.max(pair.since, this.#count - samplesMax); number < this.#count; number++) {
      const slot = number % samplesMax;
      samples.push({ atMs: this.#atMs[slot] ?? 0, rttMs: known(pair.ring[slot]) });
    }
    return samples;
  }

  /** The round trips of a pair that were sampled after `atMs`. */
  since(from: MemberId, to: MemberId, atMs: number): readonly number[] {
    return this.samples(from, to).flatMap((sample) =>
      sample.atMs > atMs && sample.rttMs !== undefined ? [sample.rttMs] : [],
    );
  }

  /**
   * The samples of a pair, thinned to at most `pointsMax` means over equally many samples each. The groups begin at fixed sample
   * numbers, so that a point no longer changes once the next one has begun.
   */
  thinned(from: MemberId, to: MemberId, pointsMax: number): readonly (number | undefined)[] {
    const size = this.groupSize(pointsMax);
    const samples = this.samples(from, to);
    const first = this.#count - samples.length;
    const points: (number | undefined)[] = [];
    for (let start = 0; start < samples.length; ) {
      const end = Math.min(samples.length, start + size - ((first + start) % size));
      points.push(mean(samples.slice(start, end)));
      start = end;
    }
    return points.slice(-pointsMax);
  }

  /** Number of samples per point, so that there are at most `pointsMax`. */
  groupSize(pointsMax: number): number {
    return Math.max(1, Math.ceil(Math.min(this.#count, samplesMax) / pointsMax));
  }

  #sample(nowMs: number): void {
    const slot = this.#count % samplesMax;
    this.#atMs[slot] = nowMs;
    for (const pair of this.#all()) pair.ring[slot] = pair.rttMs;
    this.#count++;
    // Late heartbeats do not shift the schedule, but a stall is not filled with samples.
    const lateMs = nowMs - this.#dueMs;
    this.#dueMs = (lateMs < latencySampleMs ? this.#dueMs : nowMs) + latencySampleMs;
  }

  #create(from: MemberId, to: MemberId): Pair {
    const ring = new Float32Array(samplesMax);
    const pair: Pair = { rttMs: Number.NaN, lastKnownMs: 0, since: this.#count, ring };
    const row = this.#pairs.get(from) ?? new Map<MemberId, Pair>();
    this.#pairs.set(from, row.set(to, pair));
    return pair;
  }

  #forget(members: ReadonlySet<MemberId>): void {
    for (const [from, row] of this.#pairs) {
      if (!members.has(from)) this.#pairs.delete(from);
      for (const to of row.keys()) if (!members.has(to)) row.delete(to);
    }
  }

  *#all(): Generator<Pair> {
    for (const row of this.#pairs.values()) yield* row.values();
  }
}

/** The present matrix: the round trips that this member measured, and those that the others reported. */
export function latencyRows(self: MemberId, peers: Peers): readonly LatencyRow[] {
  const own = new Map<MemberId, number>();
  const rows: LatencyRow[] = [{ from: self, rttsMs: own }];
  for (const peer of peers.ready()) {
    if (peer.rttMs !== undefined) own.set(peer.id, peer.rttMs);
    const reported = Object.entries(peer.heartbeat?.latenciesMs ?? {});
    rows.push({ from: peer.id, rttsMs: new Map(reported as [MemberId, number][]) });
  }
  return rows;
}

/** Rounds to hundredths of a millisecond: a 32-bit float has seven digits, and the measurement is no more precise. */
function known(rttMs: number | undefined): number | undefined {
  return rttMs === undefined || Number.isNaN(rttMs) ? undefined : Math.round(rttMs * 100) / 100;
}

function mean(samples: readonly LatencySample[]): number | undefined {
  const rttsMs = samples.flatMap(({ rttMs }) => rttMs ?? []);
  if (rttsMs.length === 0) return undefined;
  return known(rttsMs.reduce((sum, rttMs) => sum + rttMs, 0) / rttsMs.length);
}
