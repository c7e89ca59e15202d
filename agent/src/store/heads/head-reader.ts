import type { ContentId, MemberId, MemberRecord, Operation } from '@lockstep/shared';
import { memberPath } from '@lockstep/shared';
import type { PendingPath, PendingQuery } from '../../sync/ports/journal.ts';
import type { JournalDatabase } from '../database.ts';
import type { DiskStore } from '../disk.ts';
import type { OperationLog } from '../operations/operation-log.ts';
import { afterAllPaths, rangeBelow, successor } from '../path-range.ts';
import { limitTo, type Statement } from '../statement.ts';
import type { TotalsStore } from '../totals.ts';
import { contentKey, pendingDelete, pendingLive } from './head-row.ts';
import type { HeadRows } from './head-rows.ts';

/** The row of the log that holds a head. */
interface HeadAt {
  readonly op: number;
}

/** The queries about heads. */
export class HeadReader {
  readonly #log: OperationLog;
  readonly #disk: DiskStore;
  readonly #totals: TotalsStore;
  readonly #rows: HeadRows;
  readonly #visible: Statement<HeadAt>;
  readonly #visibleBetween: Statement<HeadAt>;
  readonly #contested: Statement<{ path: string }>;
  readonly #orphans: Statement<HeadAt>;
  readonly #orphanBetween: Statement;
  readonly #withContent: Statement<HeadAt>;
  readonly #pendingLive: Statement<HeadAt>;
  readonly #pendingDelete: Statement<HeadAt>;
  #members: readonly MemberRecord[] | undefined;

  constructor(
    database: JournalDatabase,
    parts: {
      readonly log: OperationLog;
      readonly disk: DiskStore;
      readonly rows: HeadRows;
      readonly totals: TotalsStore;
    },
  ) {
    this.#log = parts.log;
    this.#disk = parts.disk;
    this.#rows = parts.rows;
    this.#totals = parts.totals;
    database.addHook({ afterRollback: () => this.forgetMembers() });
    const select = (rest: string): Statement<HeadAt> => database.statement(`SELECT op FROM heads WHERE ${rest}`);
    this.#visible = select('path = ? AND rank = 0');
    this.#visibleBetween = select(`path >= ? AND path < ? AND rank = 0 ORDER BY path ${limitTo}`);
    this.#contested = database.statement(`SELECT path FROM heads WHERE rank = 1 AND path > ? ORDER BY path ${limitTo}`);
    this.#orphans = select(`orphan IS NOT NULL AND path > ? ORDER BY path ${limitTo}`);
    this.#orphanBetween = database.statement(
      'SELECT 1 FROM heads WHERE orphan IS NOT NULL AND path >= ? AND path < ? LIMIT 1',
    );
    this.#withContent = database.statement(
      'SELECT op FROM heads JOIN ops ON ops.row = heads.op WHERE heads.content_key = ? AND ops.content = ? LIMIT 1',
    );
    this.#pendingLive = select(`state = ${pendingLive} AND path > ? ORDER BY path ${limitTo}`);
    this.#pendingDelete = select(`state = ${pendingDelete} AND path < ? ORDER BY path DESC ${limitTo}`);
  }

  heads(path: string): readonly Operation[] {
    return this.#operations(this.#rows.at(path));
  }

  headsUnder(prefix: string, after: string | undefined, limit: number): readonly Operation[] {
    const { from, to } = rangeBelow(prefix);
    if (after !== undefined) return this.#between(after === prefix ? from : successor(after), to, limit);
    // The neighbours of a path sort between it and the paths below it (`a`, `a-b`, `a/b`): two ranges.
    const self = prefix === '' ? [] : this.#operations(this.#visible.all(prefix));
    if (self.length === 0) return this.#between(from, to, limit);
    return limit < 1 ? [] : [...self, ...this.#between(from, to, limit - 1)];
  }

  contested(after: string | undefined, limit: number): readonly { path: string; heads: readonly Operation[] }[] {
    if (this.#totals.get().contested === 0) return [];
    return this.#contested.all(after ?? '', limit).map(({ path }) => ({ path, heads: this.heads(path) }));
  }

  orphans(after: string | undefined, limit: number): readonly Operation[] {
    return this.#operations(this.#orphans.all(after ?? '', limit));
  }

  /** True when an entry below `directory` has lost its parent, even if it has no live entry above it there. */
  hasOrphanBelow(directory: string): boolean {
    const { from, to } = rangeBelow(directory);
    return this.#orphanBetween.get(from, to) !== undefined;
  }

  withContent(content: ContentId): Operation | undefined {
    const row = this.#withContent.get(contentKey(content), content);
    return row && this.#log.at(row.op);
  }

  pending({ which, after, limit }: PendingQuery): readonly PendingPath[] {
    const rows =
      which === 'live'
        ? this.#pendingLive.all(after ?? '', limit)
        : this.#pendingDelete.all(after ?? afterAllPaths, limit);
    const contested = this.#totals.get().contested > 0;
    return this.#operations(rows).map((visible) => ({
      path: visible.path,
      heads: contested ? this.heads(visible.path) : [visible],
      disk: this.#disk.entry(visible.path),
    }));
  }

  /** The member list. Cached: every heartbeat and every name on display asks for it, and it hardly ever changes. */
  members(): readonly MemberRecord[] {
    if (this.#members === undefined) {
      const { from, to } = rangeBelow(memberPath('' as MemberId).slice(0, -1));
      this.#members = this.#between(from, to, -1).flatMap(({ member }) => member ?? []);
    }
    return this.#members;
  }

  /** Drops the cached member list, which may have changed. */
  forgetMembers(): void {
    this.#members = undefined;
  }

  /** A negative limit means no limit. */
  #between(from: string, to: typeof afterAllPaths, limit: number): readonly Operation[] {
    return this.#operations(this.#visibleBetween.all(from, to, limit));
  }

  #operations(rows: readonly HeadAt[]): readonly Operation[] {
    return rows.flatMap(({ op }) => this.#log.at(op) ?? []);
  }
}
