import type { Operation } from '@lockstep/shared';
import { isConflictPath } from '../../core/conflict-name.ts';
import type { ConflictCopyTable } from '../../sync/ports/head-tables.ts';
import type { JournalDatabase } from '../database.ts';
import { copyCondition } from '../migrations.ts';
import type { OperationLog } from '../operations/operation-log.ts';
import { deleteKind } from '../operations/operation-row.ts';
import type { Statement } from '../statement.ts';

interface HeadAt {
  readonly op: number;
  readonly path: string;
}

/** The number of the newest operations that are searched for removed copies: no index holds them, and it is done once for each operation. */
const searchedMax = 100_000;

/** The number of removed copies that are remembered. */
const removedMax = 1_000;

/** The conflict copies among the live heads. Their index also holds a few names that only resemble those of copies. */
export class CopyReader implements ConflictCopyTable {
  readonly #database: JournalDatabase;
  readonly #log: OperationLog;
  readonly #after: Statement<HeadAt>;
  readonly #removedAfter: Statement<HeadAt>;
  readonly #head: Statement<{ op: number }>;
  /** Rows of deletes at the paths of copies, oldest first, up to the row `searched`. */
  readonly #removed: HeadAt[] = [];
  #searched = 0;
  #counted: { readonly revision: number; readonly count: number } | undefined;

  constructor(database: JournalDatabase, log: OperationLog) {
    this.#database = database;
    this.#log = log;
    this.#after = database.statement(
      `SELECT op, path FROM heads INDEXED BY heads_copies WHERE ${copyCondition} AND path > ? ORDER BY path`,
    );
    this.#removedAfter = database.statement(
      `SELECT row AS op, path FROM ops WHERE row > ? AND kind = ${deleteKind} AND instr(path, '.conflict-') > 0 ORDER BY row`,
    );
    this.#head = database.statement('SELECT op FROM heads WHERE path = ? AND rank = 0');
    database.addHook({ afterRollback: () => this.#forget() });
  }

  after(after: string | undefined, limit: number): readonly Operation[] {
    const ops: number[] = [];
    for (const { op, path } of this.#after.each(after ?? '')) {
      if (ops.length >= limit) break;
      if (isConflictPath(path)) ops.push(op);
    }
    return ops.flatMap((op) => this.#log.at(op) ?? []);
  }

  removed(limit: number): readonly Operation[] {
    const last = this.#log.length();
    const found = this.#removedAfter.all(Math.max(this.#searched, last - searchedMax));
    this.#removed.push(...found.filter(({ path }) => isConflictPath(path)));
    this.#removed.splice(0, Math.max(0, this.#removed.length - removedMax));
    this.#searched = last;
    const ops: number[] = [];
    for (const { op, path } of this.#removed.toReversed()) {
      if (ops.length >= limit) break;
      if (this.#head.get(path)?.op === op) ops.push(op);
    }
    return ops.flatMap((op) => this.#log.at(op) ?? []);
  }

  count(): number {
    const { revision } = this.#database;
    if (this.#counted?.revision !== revision) {
      const count = this.#after.all('').filter(({ path }) => isConflictPath(path)).length;
      this.#counted = { revision, count };
    }
    return this.#counted.count;
  }

  /** Rows of an operation that was rolled back may be used again. */
  #forget(): void {
    this.#removed.length = 0;
    this.#searched = 0;
  }
}
