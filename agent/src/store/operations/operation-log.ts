import {
  type ContentId,
  type Dot,
  markBytes,
  type Operation,
  type OriginId,
  type VersionVector,
} from '@lockstep/shared';
import { originsInOrder } from '../../core/marks.ts';
import { RecentMap } from '../../core/recent-map.ts';
import type { LogQuery, LogRow, LogTable } from '../../sync/ports/journal.ts';
import type { JournalDatabase } from '../database.ts';
import { rangeBelow } from '../path-range.ts';
import { rowsKeptMax } from '../rows-kept.ts';
import { type Bindable, limitTo, type Statement } from '../statement.ts';
import { firstLink, markOfLink, nextLink } from './chain.ts';
import { fromRow, insertOperationSql, type OperationRow, operationColumns, toRow } from './operation-row.ts';
import type { OriginTable } from './origin-table.ts';

/** The values that are known without a query: the length of the log, and each origin's highest number. */
interface Extent {
  rows: number;
  readonly known: Map<OriginId, number>;
  /** The chain of each origin at its highest number. */
  readonly links: Map<OriginId, Buffer>;
  /** `known` as an object for callers: rebuilt after a change. */
  vector: VersionVector | undefined;
  marks: Uint8Array | undefined;
}

/** The batches that are kept for the next session which sends them. */
const batchesMax = 16;

/** The place of an operation in the log. */
export interface LogPlace {
  readonly row: number;
  /** 48 bits of the chain hash of its origin there. */
  readonly mark: number;
}

/** The place of the operation in this row. */
export function placeOf({ row, chain }: OperationRow): LogPlace {
  return { row, mark: chain === null ? 0 : markOfLink(chain) };
}

/**
 * The table `ops` and the block hashes of its operations. Rows are added and never changed, except for the name of their origin when a
 * branch is cut off.
 */
export class OperationLog implements LogTable {
  readonly #database: JournalDatabase;
  readonly #origins: OriginTable;
  readonly #insert: Statement;
  readonly #insertBlocks: Statement;
  readonly #blocks: Statement<{ hashes: Buffer }>;
  readonly #byRow: Statement<OperationRow>;
  readonly #rowOf: Statement<{ row: number }>;
  readonly #after: Statement<OperationRow>;
  readonly #rowsAfter: Statement<{ row: number }>;
  readonly #oldestFirst: Statement<OperationRow>;
  readonly #newestFirst: Statement<OperationRow>;
  readonly #oldestFirstAt: Statement<OperationRow>;
  readonly #newestFirstAt: Statement<OperationRow>;
  readonly #oldestFirstUnder: Statement<OperationRow>;
  readonly #newestFirstUnder: Statement<OperationRow>;
  readonly #entry: Statement;
  readonly #stamped: Statement<OperationRow>;
  readonly #withContent: Statement<{ row: number }>;
  readonly #length: Statement<{ rows: number }>;
  readonly #seqs: Statement<{ name: OriginId; seq: number | null }>;
  readonly #linkAt: Statement<{ chain: Buffer | null }>;
  /**
   * An operation is read at each step on its way to the disk and to the other members; its construction from the row is most of the cost.
   * Rows of the log never change.
   */
  readonly #kept = new RecentMap<number, Operation>(rowsKeptMax);
  /** The last batches of `operationsOf`: all sessions send the same operations at nearly the same time. */
  readonly #batches = new RecentMap<string, readonly Operation[]>(batchesMax);
  #extent: Extent | undefined;

  constructor(database: JournalDatabase, origins: OriginTable) {
    this.#database = database;
    this.#origins = origins;
    const select = (rest: string): Statement<OperationRow> =>
      database.statement(`SELECT ${operationColumns} FROM ops ${rest}`);
    this.#insert = database.statement(insertOperationSql);
    this.#insertBlocks = database.statement('INSERT OR IGNORE INTO blocks (content, hashes) VALUES (?, ?)');
    this.#blocks = database.statement('SELECT hashes FROM blocks WHERE content = ?');
    this.#byRow = select('WHERE row = ?');
    this.#rowOf = database.statement('SELECT row FROM ops WHERE origin = ? AND seq = ?');
    this.#after = select(`WHERE origin = ? AND seq > ? ORDER BY seq ${limitTo}`);
    this.#rowsAfter = database.statement(`SELECT row FROM ops WHERE origin = ? AND seq > ? ORDER BY seq ${limitTo}`);
    const between = 'row > ? AND row < ? ORDER BY row';
    this.#oldestFirst = select(`WHERE ${between} ${limitTo}`);
    this.#newestFirst = select(`WHERE ${between} DESC ${limitTo}`);
    this.#oldestFirstAt = select(`WHERE path = ? AND ${between} ${limitTo}`);
    this.#newestFirstAt = select(`WHERE path = ? AND ${between} DESC ${limitTo}`);
    // A reader that goes forward is nearly always near the end, and few rows are left; the index would return all rows below the directory.
    this.#oldestFirstUnder = select(`WHERE (+path = ? OR (+path >= ? AND +path < ?)) AND ${between} ${limitTo}`);
    // Through the index: in a long log the operations of a small directory are far apart.
    const rowsUnder =
      'SELECT row FROM ops WHERE path = ? AND row > ? AND row < ? UNION ALL ' +
      'SELECT row FROM ops WHERE path >= ? AND path < ? AND +row > ? AND +row < ?';
    this.#newestFirstUnder = select(
      `WHERE row IN (SELECT row FROM (${rowsUnder}) ORDER BY +row DESC ${limitTo}) ORDER BY row DESC`,
    );
    this.#entry = database.statement('SELECT 1 FROM ops WHERE path = ? AND content IS ? AND target IS ? LIMIT 1');
    this.#stamped = select('WHERE path = ? AND hlc = ? ORDER BY row');
    this.#withContent = database.statement(
      'SELECT row FROM ops WHERE path = ? AND content = ? ORDER BY row DESC LIMIT 1',
    );
    this.#length = database.statement('SELECT coalesce(max(row), 0) AS rows FROM ops');
    this.#linkAt = database.statement('SELECT chain FROM ops WHERE origin = ? AND seq = ?');
    this.#seqs = database.statement(
      'SELECT name, (SELECT max(seq) FROM ops WHERE origin = origins.id) AS seq FROM origins WHERE branch_of IS NULL',
    );
    database.addHook({
      // The numbers of cached rows may be used again.
      afterRollback: () => this.forget(),
    });
  }

  length(): number {
    return this.#loaded().rows;
  }

  known(): VersionVector {
    const extent = this.#loaded();
    extent.vector ??= Object.fromEntries(extent.known);
    return extent.vector;
  }

  marks(): Uint8Array {
    const extent = this.#loaded();
    extent.marks ??= Buffer.concat(
      originsInOrder(this.known()).map((origin) =>
        (extent.links.get(origin) ?? firstLink(origin)).subarray(0, markBytes),
      ),
    );
    return extent.marks;
  }

  knownOf(origin: OriginId): number {
    return this.#loaded().known.get(origin) ?? 0;
  }

  /** Adds the operation that follows the last one of its origin, and returns its place. */
  add(operation: Operation, journaledAt: number): LogPlace {
    const extent = this.#loaded();
    const row = extent.rows + 1;
    const { content, blocks, origin } = operation;
    const chain = nextLink(extent.links.get(origin) ?? firstLink(origin), operation);
    this.#insert.run(...toRow(operation, { row, journaledAt, chain }, this.#origins));
    if (blocks !== undefined && content !== undefined && hasBlocks(content)) {
      this.#insertBlocks.run(content, blocks);
    }
    this.#kept.set(row, operation);
    extent.rows = row;
    extent.known.set(origin, operation.seq);
    extent.links.set(origin, chain);
    extent.vector = undefined;
    extent.marks = undefined;
    this.#database.revision += 1;
    return { row, mark: markOfLink(chain) };
  }

  /** The chain of `origin` at number `seq`, 32 bytes; undefined beyond the end of the log. */
  link(origin: OriginId, seq: number): Buffer | undefined {
    if (seq === 0) return firstLink(origin);
    const { known, links } = this.#loaded();
    if (seq === known.get(origin)) return links.get(origin);
    const number = this.#origins.find(origin);
    if (number === undefined) return undefined;
    return this.#linkAt.get(number, seq)?.chain ?? undefined;
  }

  mark(origin: OriginId, seq: number): string | undefined {
    return this.link(origin, seq)?.toString('hex', 0, markBytes);
  }

  /** Drops cached operations and batches that were not used since the last call. */
  ageCache(): void {
    this.#kept.age();
    this.#batches.age();
  }

  /** Clears the cache: rows were changed. */
  forget(): void {
    this.#extent = undefined;
    this.#kept.clear();
    this.#batches.clear();
  }

  operation({ origin, seq }: Dot): Operation | undefined {
    const number = this.#origins.find(origin);
    const found = number === undefined ? undefined : this.#rowOf.get(number, seq);
    return found && this.at(found.row);
  }

  /** The operation in this row. */
  at(row: number): Operation | undefined {
    const kept = this.#kept.get(row);
    if (kept !== undefined) return kept;
    const found = this.#byRow.get(row);
    if (found === undefined) return undefined;
    const operation = this.toOperation(found);
    this.#kept.set(row, operation);
    return operation;
  }

  operationsOf(origin: OriginId, after: number, limit: number): readonly Operation[] {
    const last = this.knownOf(origin);
    if (after >= last) return [];
    const key = `${origin} ${after} ${limit}`;
    const known = this.#batches.get(key);
    // A batch that was cut short by the end of the log may have grown since.
    if (known !== undefined && (known.length === limit || known.at(-1)?.seq === last)) return known;
    const operations = this.#readBatch(origin, after, limit);
    this.#batches.set(key, operations);
    return operations;
  }

  #readBatch(origin: OriginId, after: number, limit: number): readonly Operation[] {
    const number = this.#origins.find(origin);
    if (number === undefined) return [];
    const kept = this.#rowsAfter.all(number, after, limit).map(({ row }) => this.#kept.get(row));
    // One query for all costs less than one for each that is not cached.
    return areAll(kept) ? kept : this.#after.all(number, after, limit).map(this.toOperation);
  }

  *operationsBeyond(known: VersionVector, limit: number): IterableIterator<readonly Operation[]> {
    for (const [origin, last] of Object.entries(this.known()) as [OriginId, number][]) {
      let after = known[origin] ?? 0;
      while (after < last) {
        // Not kept: a long pull would push out what the sessions share.
        const batch = this.#readBatch(origin, after, limit);
        const end = batch.at(-1);
        if (end === undefined) break;
        yield batch;
        after = end.seq;
      }
    }
  }

  rows(query: LogQuery): readonly LogRow[] {
    const rows = query.under === undefined ? this.#rowsAt(query) : this.#rowsUnder(query.under, query);
    return rows.map((row) => this.#toLogRow(row));
  }

  row({ origin, seq }: Dot): LogRow | undefined {
    const number = this.#origins.find(origin);
    const found = number === undefined ? undefined : this.#rowOf.get(number, seq);
    const row = found && this.#byRow.get(found.row);
    return row && this.#toLogRow(row);
  }

  #toLogRow(row: OperationRow): LogRow {
    return { row: row.row, operation: this.toOperation(row), journaledAt: row.journaled_at };
  }

  #rowsAt({ path, afterRow, beforeRow, limit }: LogQuery): readonly OperationRow[] {
    const bounds: Bindable[] = [...rowsBetween({ afterRow, beforeRow }), limit];
    const newestFirst = beforeRow !== undefined;
    if (path === undefined) return (newestFirst ? this.#newestFirst : this.#oldestFirst).all(...bounds);
    return (newestFirst ? this.#newestFirstAt : this.#oldestFirstAt).all(path, ...bounds);
  }

  #rowsUnder(directory: string, { afterRow, beforeRow, limit }: LogQuery): readonly OperationRow[] {
    const { from, to } = rangeBelow(directory);
    const bounds = rowsBetween({ afterRow, beforeRow });
    if (beforeRow === undefined) return this.#oldestFirstUnder.all(directory, from, to, ...bounds, limit);
    return this.#newestFirstUnder.all(directory, ...bounds, from, to, ...bounds, limit);
  }

  everHad(path: string, { content, target }: Pick<Operation, 'content' | 'target'>): boolean {
    return this.#entry.get(path, content ?? null, target ?? null) !== undefined;
  }

  stamped(path: string, hlc: number): readonly Operation[] {
    return this.#stamped.all(path, hlc).map(this.toOperation);
  }

  operationWith(path: string, content: ContentId): Operation | undefined {
    const found = this.#withContent.get(path, content);
    return found && this.at(found.row);
  }

  /** The operation of a row that another query of `operationColumns` returned. */
  readonly toOperation = (row: OperationRow): Operation => {
    return fromRow(row, this.#origins, this.#blocksOf(row.content));
  };

  #blocksOf(content: ContentId | null): Uint8Array | undefined {
    if (content === null || !hasBlocks(content)) return undefined;
    const hashes = this.#blocks.get(content)?.hashes;
    return hashes && new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength);
  }

  #loaded(): Extent {
    if (this.#extent) return this.#extent;
    const known = new Map<OriginId, number>();
    const links = new Map<OriginId, Buffer>();
    for (const { name, seq } of this.#seqs.all()) {
      // Origins that are only mentioned in a version have no operation here yet.
      if (seq === null) continue;
      known.set(name, seq);
      const chain = this.#linkAt.get(this.#origins.number(name), seq)?.chain;
      if (chain) links.set(name, chain);
    }
    this.#extent = { rows: this.#length.get()?.rows ?? 0, known, links, vector: undefined, marks: undefined };
    return this.#extent;
  }
}

function areAll(operations: readonly (Operation | undefined)[]): operations is readonly Operation[] {
  return !operations.includes(undefined);
}

function rowsBetween({ afterRow, beforeRow }: Pick<LogQuery, 'afterRow' | 'beforeRow'>): readonly Bindable[] {
  return [afterRow ?? 0, beforeRow ?? Number.MAX_SAFE_INTEGER];
}

/** True for contents of more than one block: no look-up is needed for all others. */
function hasBlocks(content: ContentId): boolean {
  return content.startsWith('b3t:');
}
