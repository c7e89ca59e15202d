import { type ContentId, type Dot, dotKey, type Operation } from '@lockstep/shared';
import type { PendingPath } from '../../core/entry.ts';
import type { HeadTable, PendingQuery } from '../../sync/ports/head-tables.ts';
import type { JournalDatabase } from '../database.ts';
import type { DiskStore } from '../disk.ts';
import type { OperationLog } from '../operations/operation-log.ts';
import { afterAllPaths, rangeBelow, successor } from '../path-range.ts';
import { limitTo, type Statement } from '../statement.ts';
import type { TotalsStore } from '../totals.ts';
import { contentKey, pendingDelete, pendingLive } from './head-row.ts';
import type { HeadRows } from './head-rows.ts';
import type { ParentStore } from './parent-store.ts';

/** The row of the log that holds a head. */
interface HeadAt {
  readonly op: number;
}

/** The queries about heads. */
export class HeadReader implements HeadTable {
  readonly #log: OperationLog;
  readonly #disk: DiskStore;
  readonly #totals: TotalsStore;
  readonly #rows: HeadRows;
  readonly #parents: ParentStore;
  readonly #visible: Statement<HeadAt>;
  readonly #visibleBetween: Statement<HeadAt>;
  readonly #contested: Statement<{ path: string }>;
  readonly #orphans: Statement<HeadAt>;
  readonly #orphanBetween: Statement;
  readonly #withContent: Statement<HeadAt>;
  readonly #pendingLive: Statement<HeadAt>;
  readonly #pendingDelete: Statement<HeadAt>;

  constructor(
    database: JournalDatabase,
    parts: {
      readonly log: OperationLog;
      readonly disk: DiskStore;
      readonly rows: HeadRows;
      readonly parents: ParentStore;
      readonly totals: TotalsStore;
    },
  ) {
    this.#log = parts.log;
    this.#disk = parts.disk;
    this.#rows = parts.rows;
    this.#parents = parts.parents;
    this.#totals = parts.totals;
    const select = (rest: string): Statement<HeadAt> => database.statement(`SELECT op FROM heads WHERE ${rest}`);
    this.#visible = select('path = ? AND rank = 0');
    this.#visibleBetween = select(`path >= ? AND path < ? AND rank = 0 ORDER BY path ${limitTo}`);
    this.#contested = database.statement(`SELECT path FROM heads WHERE rank = 1 AND path > ? ORDER BY path ${limitTo}`);
    this.#orphans = select(`orphan IS NOT NULL AND path > ? ORDER BY path ${limitTo}`);
    this.#orphanBetween = database.statement(
      'SELECT 1 FROM heads WHERE orphan IS NOT NULL AND path >= ? AND path < ? LIMIT 1',
    );
    this.#withContent = database.statement(
      'SELECT op FROM heads JOIN ops ON ops.row = heads.op WHERE heads.content_key = ? AND ops.content = ? LIMIT ?',
    );
    this.#pendingLive = select(`state = ${pendingLive} AND path > ? ORDER BY path ${limitTo}`);
    this.#pendingDelete = select(`state = ${pendingDelete} AND path < ? ORDER BY path DESC ${limitTo}`);
  }

  at(path: string): readonly Operation[] {
    return this.#operations(this.#rows.at(path));
  }

  has(operation: Dot & { readonly path: string }): boolean {
    const key = dotKey(operation);
    return this.at(operation.path).some((head) => dotKey(head) === key);
  }

  under(prefix: string, after: string | undefined, limit: number): readonly Operation[] {
    const { from, to } = rangeBelow(prefix);
    if (after !== undefined) return this.#between(after === prefix ? from : successor(after), to, limit);
    // The neighbours of a path sort between it and the paths below it (`a`, `a-b`, `a/b`): two ranges.
    const self = prefix === '' ? [] : this.#operations(this.#visible.all(prefix));
    if (self.length === 0) return this.#between(from, to, limit);
    return limit < 1 ? [] : [...self, ...this.#between(from, to, limit - 1)];
  }

  contested(after: string | undefined, limit: number): readonly { path: string; heads: readonly Operation[] }[] {
    if (this.#totals.get().contested === 0) return [];
    return this.#contested.all(after ?? '', limit).map(({ path }) => ({ path, heads: this.at(path) }));
  }

  orphans(after: string | undefined, limit: number): readonly Operation[] {
    return this.#operations(this.#orphans.all(after ?? '', limit));
  }

  hasLiveBelow(directory: string): boolean {
    // The nearest live entries below a directory are directly in it, or have lost their parent.
    if (this.#parents.liveIn(directory) > 0) return true;
    const { from, to } = rangeBelow(directory);
    return this.#orphanBetween.get(from, to) !== undefined;
  }

  withContent(content: ContentId): Operation | undefined {
    return this.allWithContent(content, 1)[0];
  }

  allWithContent(content: ContentId, limit: number): readonly Operation[] {
    return this.#operations(this.#withContent.all(contentKey(content), content, limit));
  }

  pending({ which, after, limit }: PendingQuery): readonly PendingPath[] {
    const rows =
      which === 'live'
        ? this.#pendingLive.all(after ?? '', limit)
        : this.#pendingDelete.all(after ?? afterAllPaths, limit);
    const contested = this.#totals.get().contested > 0;
    return this.#operations(rows).map((visible) => ({
      path: visible.path,
      heads: contested ? this.at(visible.path) : [visible],
      disk: this.#disk.at(visible.path),
    }));
  }

  #between(from: string, to: typeof afterAllPaths, limit: number): readonly Operation[] {
    return this.#operations(this.#visibleBetween.all(from, to, limit));
  }

  #operations(rows: readonly HeadAt[]): readonly Operation[] {
    return rows.flatMap(({ op }) => this.#log.at(op) ?? []);
  }
}
