import { type Applied, appliedRangesMax, type OriginId, type SeqRange } from '@lockstep/shared';
import type { JournalDatabase } from '../database.ts';
import { limitTo, type Statement } from '../statement.ts';
import type { TotalsStore } from '../totals.ts';
import type { OperationLog } from './operation-log.ts';
import type { OriginTable } from './origin-table.ts';

/**
 * The number of outstanding operations read of each origin. Neighbours leave no range between them, so this exceeds the number of ranges;
 * if it misses some, `applied` only understates.
 */
const outstandingRowsMax = 4 * appliedRangesMax;

/**
 * Computes what this member holds durably: all that it knows, except the outstanding operations. Those are pending heads, live losing
 * siblings, and changes on the disk that a power cut may undo.
 */
export class AppliedReader {
  readonly #database: JournalDatabase;
  readonly #log: OperationLog;
  readonly #origins: OriginTable;
  readonly #totals: TotalsStore;
  readonly #outstanding: Statement<{ seq: number }>;
  readonly #last: Statement<{ seq: number }>;
  readonly #anyUnsynced: Statement;
  #cached: { readonly revision: number; readonly applied: Applied } | undefined;

  constructor(
    database: JournalDatabase,
    parts: { readonly log: OperationLog; readonly origins: OriginTable; readonly totals: TotalsStore },
  ) {
    this.#database = database;
    this.#log = parts.log;
    this.#origins = parts.origins;
    this.#totals = parts.totals;
    const select =
      'SELECT seq FROM heads INDEXED BY heads_outstanding WHERE state IS NOT NULL AND origin = ? UNION ' +
      'SELECT seq FROM disk INDEXED BY disk_unsynced WHERE unsynced IS NOT NULL AND origin = ? ORDER BY seq';
    this.#outstanding = database.statement(`${select} ${limitTo}`);
    this.#last = database.statement(`${select} DESC LIMIT 1`);
    this.#anyUnsynced = database.statement(
      'SELECT 1 FROM disk INDEXED BY disk_unsynced WHERE unsynced IS NOT NULL LIMIT 1',
    );
  }

  applied(): Applied {
    const { revision } = this.#database;
    if (this.#cached?.revision !== revision) this.#cached = { revision, applied: this.#compute() };
    return this.#cached.applied;
  }

  #compute(): Applied {
    const known = this.#log.known();
    const { pending, contested } = this.#totals.get();
    if (pending === 0 && contested === 0 && this.#anyUnsynced.get() === undefined) return { vector: known, ranges: {} };
    const vector: Record<OriginId, number> = {};
    const ranges: Record<OriginId, readonly SeqRange[]> = {};
    for (const [origin, last] of Object.entries(known) as [OriginId, number][]) {
      const held = this.#ofOrigin(origin, last);
      if (held.upTo > 0) vector[origin] = held.upTo;
      if (held.ranges.length > 0) ranges[origin] = held.ranges;
    }
    return { vector, ranges };
  }

  #ofOrigin(origin: OriginId, last: number): { readonly upTo: number; readonly ranges: readonly SeqRange[] } {
    const number = this.#origins.number(origin);
    const outstanding = this.#outstanding.all(number, number, outstandingRowsMax).map(({ seq }) => seq);
    const [first] = outstanding;
    if (first === undefined) return { upTo: last, ranges: [] };
    const ranges: SeqRange[] = [];
    outstanding.forEach((seq, index) => {
      const next = outstanding[index + 1] ?? seq;
      if (next > seq + 1) ranges.push([seq + 1, next - 1]);
    });
    // The last range grows while an old operation is stuck, so it is never the one left out.
    const highest = outstanding.length < outstandingRowsMax ? outstanding.at(-1) : this.#last.get(number, number)?.seq;
    if (highest === undefined || highest >= last) return { upTo: first - 1, ranges: ranges.slice(0, appliedRangesMax) };
    return { upTo: first - 1, ranges: [...ranges.slice(0, appliedRangesMax - 1), [highest + 1, last]] };
  }
}
