import { dotKey, type Operation } from '@lockstep/shared';
import { withHead, withoutHead } from '../../core/digest.ts';
import { mergeHead } from '../../core/merge.ts';
import { covers } from '../../core/version.ts';
import type { DiskStore, ShownChange } from '../disk.ts';
import type { LogPlace } from '../operations/operation-log.ts';
import type { OriginTable } from '../operations/origin-table.ts';
import type { HeadTotals, TotalsStore } from '../totals.ts';
import type { HeadReader } from './head-reader.ts';
import {
  absentType,
  directoryType,
  fileType,
  type HeadRow,
  headRow,
  isPending,
  missingBytes,
  type Shown,
  visibleState,
} from './head-row.ts';
import type { HeadRows } from './head-rows.ts';
import type { ParentStore } from './parent-store.ts';

/** Keeps `heads` and its totals in step with the log and the disk. */
export class HeadStore {
  readonly #origins: OriginTable;
  readonly #disk: DiskStore;
  readonly #reader: HeadReader;
  readonly #parents: ParentStore;
  readonly #totals: TotalsStore;
  readonly #rows: HeadRows;

  constructor(parts: {
    readonly origins: OriginTable;
    readonly disk: DiskStore;
    readonly rows: HeadRows;
    readonly reader: HeadReader;
    readonly parents: ParentStore;
    readonly totals: TotalsStore;
  }) {
    this.#origins = parts.origins;
    this.#disk = parts.disk;
    this.#reader = parts.reader;
    this.#parents = parts.parents;
    this.#totals = parts.totals;
    this.#rows = parts.rows;
    this.#disk.follow((path, change) => this.#diskChanged(path, change));
  }

  /** Merges an operation that was just added to the log at this place. The caller must call `parents.flush` before it reads. */
  merge(operation: Operation, { row: op, mark }: LogPlace): void {
    const { path } = operation;
    const origin = this.#origins.number(operation.origin);
    const before = this.#rows.at(path);
    const [only] = before;
    const shown = this.#disk.shown(path);
    if (only === undefined || (before.length === 1 && covers(operation.version, this.#dotOf(only)))) {
      // Nearly every operation: the result of `mergeHead` is known without the present head's operation.
      this.#write(path, before, [headRow({ operation, op, mark, origin, rank: 0, shown })], shown);
      return;
    }
    const heads = this.#reader.at(path);
    const merged = mergeHead(heads, operation);
    if (merged !== heads) this.#write(path, before, this.#toRows(merged, before, { row: op, mark }, shown), shown);
  }

  /** Replaces all heads of `path` with `heads`. For a repair. */
  set(path: string, heads: readonly { readonly operation: Operation; readonly place: LogPlace }[]): void {
    const shown = this.#disk.shown(path);
    const rows = heads.map(({ operation, place: { row, mark } }, rank) =>
      headRow({ operation, op: row, mark, origin: this.#origins.number(operation.origin), rank, shown }),
    );
    this.#write(path, this.#rows.at(path), rows, shown);
  }

  rows(path: string): readonly HeadRow[] {
    return this.#rows.at(path);
  }

  /** Adds the stored heads of `path` to totals that were reset. */
  addToTotals(path: string): void {
    this.#add(path, this.#rows.at(path), this.#disk.shown(path));
  }

  /** Updates the head's state after the row of `disk` for `path` was written. */
  #diskChanged(path: string, { before, after }: ShownChange): void {
    const [head] = this.#rows.at(path);
    if (head === undefined || head.rank !== 0) return;
    const state = visibleState(path, head, after);
    const newlyMissing = missingBytes({ ...head, state }, after) - missingBytes(head, before);
    if (newlyMissing !== 0) this.#totals.change().missing_bytes += newlyMissing;
    if (state === head.state) return;
    this.#rows.setVisibleState(path, state);
    this.#totals.change().pending += Number(isPending(state)) - Number(isPending(head.state));
  }

  /** The rows of merged heads: those of the heads before, and that of the operation that was just added. */
  #toRows(
    merged: readonly Operation[],
    before: readonly HeadRow[],
    added: LogPlace,
    shown: Shown | undefined,
  ): HeadRow[] {
    const rows = new Map(before.map((row) => [dotKey(this.#dotOf(row)), row]));
    return merged.map((operation, rank) => {
      const old = rows.get(dotKey(operation));
      return headRow({
        operation,
        op: old?.op ?? added.row,
        mark: old?.mark ?? added.mark,
        origin: this.#origins.number(operation.origin),
        rank,
        shown,
      });
    });
  }

  #write(path: string, before: readonly HeadRow[], after: readonly HeadRow[], shown: Shown | undefined): void {
    const [old] = before;
    const [visible] = after;
    this.#rows.write(path, after);
    this.#subtract(path, before, shown);
    this.#add(path, after, shown);
    this.#parents.visibleChanged(path, old?.type ?? absentType, visible?.type ?? absentType);
  }

  #add(path: string, rows: readonly HeadRow[], shown: Shown | undefined): void {
    const totals = this.#totals.change();
    for (const row of rows) totals.digest = withHead(totals.digest, path, this.#dotOf(row), row.mark);
    count(totals, rows, shown, 1);
  }

  #subtract(path: string, rows: readonly HeadRow[], shown: Shown | undefined): void {
    const totals = this.#totals.change();
    for (const row of rows) totals.digest = withoutHead(totals.digest, path, this.#dotOf(row), row.mark);
    count(totals, rows, shown, -1);
  }

  #dotOf({ origin, seq }: HeadRow): { readonly origin: Operation['origin']; readonly seq: number } {
    return { origin: this.#origins.name(origin), seq };
  }
}

function count(
  totals: HeadTotals,
  [visible, ...siblings]: readonly HeadRow[],
  shown: Shown | undefined,
  by: 1 | -1,
): void {
  if (visible === undefined) return;
  if (visible.type === fileType) {
    totals.files += by;
    totals.bytes += by * visible.size;
  }
  if (visible.type === directoryType) totals.directories += by;
  if (isPending(visible.state)) totals.pending += by;
  totals.missing_bytes += by * missingBytes(visible, shown);
  if (siblings.length > 0) totals.contested += by;
}
