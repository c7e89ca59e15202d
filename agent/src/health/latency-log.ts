import type { LatencySpan } from '@lockstep/shared/api';
import type Sqlite from 'better-sqlite3';

/** The lengths of a point, each with the time for which its points are kept: 1,500 rows for a pair in all. */
const grains = {
  '1h': { ms: 60_000, spanMs: 3_600_000, keptMs: 2 * 3_600_000 },
  '24h': { ms: 300_000, spanMs: 86_400_000, keptMs: 25 * 3_600_000 },
  '7d': { ms: 3_600_000, spanMs: 7 * 86_400_000, keptMs: 30 * 86_400_000 },
} as const;

/** All pairs are kept of a cluster of this size: 240 pairs, some 10 MB. Of a larger one only those that the agent measures itself. */
export const allPairsMembersMax = 16;

/** The samples of one direction of a pair since the last call. */
export interface PairSamples {
  readonly from: string;
  readonly to: string;
  /** Empty: there was no session. */
  readonly rttsMs: readonly number[];
  /** The longest single round trip, if it was measured here. */
  readonly peakMs?: number | undefined;
}

interface Row {
  readonly at: number;
  readonly least: number | null;
  readonly sum: number;
  readonly most: number | null;
  readonly count: number;
}

/** Round trips over time, in three grains, in hundredths of a millisecond. */
export class LatencyLog {
  readonly #pairs = new Map<string, number>();
  readonly #addPair: Sqlite.Statement<[string, string], { id: number }>;
  readonly #findPair: Sqlite.Statement<[string, string], { id: number }>;
  readonly #add: Sqlite.Statement<(number | null)[]>;
  readonly #points: Sqlite.Statement<[number, number, number], Row>;
  readonly #drop: Sqlite.Statement<[number, number]>;
  readonly #dropPairs: Sqlite.Statement<[number]>;

  constructor(database: Sqlite.Database) {
    this.#findPair = database.prepare('SELECT id FROM pairs WHERE source = ? AND target = ?');
    this.#addPair = database.prepare('INSERT INTO pairs (source, target) VALUES (?, ?) RETURNING id');
    this.#add = database.prepare(
      `INSERT INTO latency (grain, pair, at, least, sum, most, count) VALUES (?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET
         least = min(coalesce(least, excluded.least), coalesce(excluded.least, least)),
         most = max(coalesce(most, excluded.most), coalesce(excluded.most, most)),
         sum = sum + excluded.sum, count = count + excluded.count`,
    );
    this.#points = database.prepare(
      'SELECT at, least, sum, most, count FROM latency WHERE grain = ? AND pair = ? AND at >= ? ORDER BY at',
    );
    this.#dropPairs = database.prepare(
      'DELETE FROM pairs WHERE NOT EXISTS (SELECT 1 FROM latency WHERE grain = ? AND pair = pairs.id)',
    );
    this.#drop = database.prepare('DELETE FROM latency WHERE grain = ? AND at < ?');
  }

  /** Adds the samples of the last minute. */
  add(now: number, samples: readonly PairSamples[]): void {
    for (const { from, to, rttsMs, peakMs } of samples) {
      const pair = this.#pairOf(from, to);
      const values = rttsMs.map(stored);
      const count = values.length;
      const least = count === 0 ? null : Math.min(...values);
      const most = count === 0 ? null : Math.max(...values, stored(peakMs ?? 0));
      const sum = values.reduce((total, value) => total + value, 0);
      for (const { ms } of Object.values(grains))
        this.#add.run(ms, pair, Math.floor(now / ms) * ms, least, sum, most, count);
    }
  }

  /** The points of a pair over a time that ends now. */
  read(now: number, from: string, to: string, span: keyof typeof grains): LatencySpan {
    const { ms, spanMs } = grains[span];
    const since = Math.floor((now - spanMs) / ms) * ms;
    const pair = this.#pairs.get(`${from} ${to}`) ?? this.#findPair.get(from, to)?.id;
    const rows = pair === undefined ? [] : this.#points.all(ms, pair, since);
    const points = rows.map(({ at, least, sum, most, count }) => ({
      at,
      mean: count === 0 ? null : shown(sum / count),
      least: least === null ? null : shown(least),
      most: most === null ? null : shown(most),
    }));
    return { from: since, until: now, everyMs: ms, points };
  }

  drop(now: number): void {
    for (const { ms, keptMs } of Object.values(grains)) this.#drop.run(ms, now - keptMs);
    // Pairs of members that left long ago. The coarsest grain is kept longest.
    this.#dropPairs.run(grains['7d'].ms);
    this.forgetPairs();
  }

  /** Their ids are read again: rows were dropped, or a transaction was rolled back. */
  forgetPairs(): void {
    this.#pairs.clear();
  }

  #pairOf(from: string, to: string): number {
    const key = `${from} ${to}`;
    const known = this.#pairs.get(key) ?? this.#findPair.get(from, to)?.id ?? this.#addPair.get(from, to)?.id;
    if (known === undefined) throw new Error('SQLite gave no id for a pair');
    this.#pairs.set(key, known);
    return known;
  }
}

function stored(ms: number): number {
  return Math.round(ms * 100);
}

function shown(hundredths: number): number {
  return Math.round(hundredths) / 100;
}
