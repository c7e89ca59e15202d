import type { MemberId } from '@lockstep/shared';
import { latencyHistoryMs, latencySampleMs } from '@lockstep/shared/api';
import type { Peers } from './peers.ts';

/** What the chart of a pair shows. As many members as there may be (64) make 4,032 pairs: 6 MB in all. */
const samplesMax = latencyHistoryMs / latencySampleMs;

/** What one member measured to others: one row of the matrix. */
export interface LatencyRow {
  readonly from: MemberId;
  /** Smoothed round trips, of those alone that it has a session with. */
  readonly rttsMs: ReadonlyMap<MemberId, number>;
}

export interface LatencySample {
  /** On the monotonic clock. */
  readonly atMs: number;
  /** undefined: there was no session between the two, or nobody told of it. */
  readonly rttMs: number | undefined;
}

interface Pair {
  /** The newest round trip; NaN while none is known. */
  rttMs: number;
  lastKnownMs: number;
  /** How many samples there were before the first of this pair. */
  readonly since: number;
  /** By the number of the sample, modulo its length. */
  readonly ring: Float32Array;
}

/**
 * Round trips between all members over the last hour, as far as this one measured them or was told of them. In memory only: a
 * chart of latencies is not worth a write to the disk every few seconds.
 */
export class LatencyHistory {
  readonly #pairs = new Map<MemberId, Map<MemberId, Pair>>();
  readonly #atMs = new Float64Array(samplesMax);
  #count = 0;
  #dueMs = Number.NEGATIVE_INFINITY;

  /** Takes over what is known now, for `members` alone: the pairs of all others are forgotten. A sample is kept when one is due. */
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

  /** The newest round trip of a pair, and when there was one last. */
  now(from: MemberId, to: MemberId): { readonly rttMs: number | undefined; readonly lastKnownMs: number | undefined } {
    const pair = this.#pairs.get(from)?.get(to);
    return { rttMs: known(pair?.rttMs), lastKnownMs: pair?.lastKnownMs };
  }

  /** The samples of a pair, oldest first, from the first one on that knew a round trip; those of an hour at most. */
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

  /**
   * The samples of a pair, thinned to at most `pointsMax` means over equally many samples each. Where the groups begin depends on
   * the number of the sample alone, so that a point does not change any more once the next one has begun.
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

  /** How many samples become one point, so that there are at most `pointsMax`. */
  groupSize(pointsMax: number): number {
    return Math.max(1, Math.ceil(Math.min(this.#count, samplesMax) / pointsMax));
  }

  #sample(nowMs: number): void {
    const slot = this.#count % samplesMax;
    this.#atMs[slot] = nowMs;
    for (const pair of this.#all()) pair.ring[slot] = pair.rttMs;
    this.#count++;
    // In step with the clock, whatever the heartbeats are late by; but after a stall there is nothing to make up for.
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

/** The matrix as this member knows it now: the round trips it measured, and those that the others told of. */
export function latencyRows(self: MemberId, peers: Peers): readonly LatencyRow[] {
  const own = new Map<MemberId, number>();
  const rows: LatencyRow[] = [{ from: self, rttsMs: own }];
  for (const peer of peers.ready()) {
    if (peer.rttMs !== undefined) own.set(peer.id, peer.rttMs);
    const told = Object.entries(peer.heartbeat?.latenciesMs ?? {});
    rows.push({ from: peer.id, rttsMs: new Map(told as [MemberId, number][]) });
  }
  return rows;
}

/** A float has seven digits; more than the hundredth of a millisecond was never measured. */
function known(rttMs: number | undefined): number | undefined {
  return rttMs === undefined || Number.isNaN(rttMs) ? undefined : Math.round(rttMs * 100) / 100;
}

function mean(samples: readonly LatencySample[]): number | undefined {
  const rttsMs = samples.flatMap(({ rttMs }) => rttMs ?? []);
  if (rttsMs.length === 0) return undefined;
  return known(rttsMs.reduce((sum, rttMs) => sum + rttMs, 0) / rttsMs.length);
}
