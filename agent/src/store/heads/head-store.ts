import { dotKey, type Operation } from '@lockstep/shared';
import { withHead, withoutHead } from '../../core/digest.ts';
import { mergeHead } from '../../core/merge.ts';
import { covers } from '../../core/version.ts';
import type { JournalDatabase } from '../database.ts';
import type { DiskStore, ShownChange } from '../disk.ts';
import type { LogPlace } from '../operations/operation-log.ts';
import type { OriginTable } from '../operations/origin-table.ts';
import type { Statement } from '../statement.ts';
import type { HeadTotals, TotalsStore } from '../totals.ts';
import type { HeadReader } from './head-reader.ts';
import {
  absentType,
  directoryType,
  fileType,
  type HeadRow,
  headColumns,
  headRow,
  headValues,
  isPending,
  missingBytes,
  type Shown,
  visibleState,
} from './head-row.ts';
import type { ParentStore } from './parent-store.ts';

/** Keeps `heads` and its totals in step with the log and the disk. */
export class HeadStore {
  readonly #origins: OriginTable;
  readonly #disk: DiskStore;
  readonly #reader: HeadReader;
  readonly #parents: ParentStore;
  readonly #totals: TotalsStore;
  readonly #rows: Statement<HeadRow>;
  readonly #visible: Statement<HeadRow>;
  readonly #insert: Statement;
  readonly #replace: Statement;
  readonly #setState: Statement;
  readonly #delete: Statement;

  constructor(
    database: JournalDatabase,
    parts: {
      readonly origins: OriginTable;
      readonly disk: DiskStore;
      readonly reader: HeadReader;
      readonly parents: ParentStore;
      readonly totals: TotalsStore;
    },
  ) {
    this.#origins = parts.origins;
    this.#disk = parts.disk;
    this.#reader = parts.reader;
    this.#parents = parts.parents;
    this.#totals = parts.totals;
    this.#rows = database.statement(`SELECT ${headColumns} FROM heads WHERE path = ? ORDER BY rank`);
    this.#visible = database.statement(`SELECT ${headColumns} FROM heads WHERE path = ? AND rank = 0`);
    this.#insert = database.statement(`INSERT INTO heads (${headColumns}, path) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
    this.#replace = database.statement(
      `UPDATE heads SET (${headColumns}, orphan) = (?, ?, ?, ?, ?, ?, ?, ?, ?, NULL) WHERE op = ?`,
    );
    this.#setState = database.statement('UPDATE heads SET state = ? WHERE op = ?');
    this.#delete = database.statement('DELETE FROM heads WHERE path = ?');
  }

  /** Merges an operation that was just added to the log at this place. The caller must call `parents.flush` before it reads. */
  merge(operation: Operation, { row: op, mark }: LogPlace): void {
    const { path } = operation;
    const origin = this.#origins.number(operation.origin);
    const before = this.#rows.all(path);
    const [only] = before;
    const shown = this.#disk.shown(path);
    if (only === undefined || (before.length === 1 && covers(operation.version, this.#dotOf(only)))) {
      // Nearly every operation: the result of `mergeHead` is known without the present head's operation.
      this.#write(path, before, [headRow({ operation, op, mark, origin, rank: 0, shown })], shown);
      return;
    }
    const heads = this.#reader.heads(path);
    const merged = mergeHead(heads, operation);
    if (merged !== heads) this.#write(path, before, this.#toRows(merged, before, { row: op, mark }, shown), shown);
  }

  /** Replaces all heads of `path` with `heads`. For a repair. */
  set(path: string, heads: readonly { readonly operation: Operation; readonly place: LogPlace }[]): void {
    const shown = this.#disk.shown(path);
    const rows = heads.map(({ operation, place: { row, mark } }, rank) =>
      headRow({ operation, op: row, mark, origin: this.#origins.number(operation.origin), rank, shown }),
    );
    this.#write(path, this.#rows.all(path), rows, shown);
  }

  rows(path: string): readonly HeadRow[] {
    return this.#rows.all(path);
  }

  /** Adds the stored heads of `path` to totals that were reset. */
  addToTotals(path: string): void {
    this.#add(path, this.#rows.all(path), this.#disk.shown(path));
  }

  /** Updates the head's state after the row of `disk` for `path` was written. */
  diskChanged(path: string, { before, after }: ShownChange): void {
    const head = this.#visible.get(path);
    if (head === undefined) return;
    const state = visibleState(path, head, after);
    const newlyMissing = missingBytes({ ...head, state }, after) - missingBytes(head, before);
    if (newlyMissing !== 0) this.#totals.change().missing_bytes += newlyMissing;
    if (state === head.state) return;
    this.#setState.run(state, head.op);
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
    if (old !== undefined && visible !== undefined && before.length === 1 && after.length === 1) {
      this.#replace.run(...headValues(visible), old.op);
    } else {
      if (old !== undefined) this.#delete.run(path);
      for (const row of after) this.#insert.run(...headValues(row), path);
    }
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
