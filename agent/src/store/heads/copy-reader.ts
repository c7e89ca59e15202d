import type { Operation } from '@lockstep/shared';
import { isConflictPath } from '../../core/conflict-name.ts';
import type { ConflictCopies } from '../../sync/ports/conflict-copies.ts';
import type { JournalDatabase } from '../database.ts';
import { copyCondition } from '../migrations.ts';
import type { OperationLog } from '../operations/operation-log.ts';
import type { Statement } from '../statement.ts';

interface HeadAt {
  readonly op: number;
  readonly path: string;
}

/** The conflict copies among the live heads. Their index also holds a few names that only resemble those of copies. */
export class CopyReader implements ConflictCopies {
  readonly #database: JournalDatabase;
  readonly #log: OperationLog;
  readonly #after: Statement<HeadAt>;
  #counted: { readonly revision: number; readonly count: number } | undefined;

  constructor(database: JournalDatabase, log: OperationLog) {
    this.#database = database;
    this.#log = log;
    this.#after = database.statement(
      `SELECT op, path FROM heads INDEXED BY heads_copies WHERE ${copyCondition} AND path > ? ORDER BY path`,
    );
  }

  conflictCopies(after: string | undefined, limit: number): readonly Operation[] {
    const ops: number[] = [];
    for (const { op, path } of this.#after.each(after ?? '')) {
      if (ops.length >= limit) break;
      if (isConflictPath(path)) ops.push(op);
    }
    return ops.flatMap((op) => this.#log.at(op) ?? []);
  }

  conflictCopyCount(): number {
    const { revision } = this.#database;
    if (this.#counted?.revision !== revision) {
      const count = this.#after.all('').filter(({ path }) => isConflictPath(path)).length;
      this.#counted = { revision, count };
    }
    return this.#counted.count;
  }
}
