import type { Operation, OriginId } from '@lockstep/shared';
import { namedMarks } from '../../core/marks.ts';
import type { Contradiction, NamedMarkTable } from '../../sync/ports/journal.ts';
import type { JournalDatabase } from '../database.ts';
import type { Statement } from '../statement.ts';
import type { OperationLog } from './operation-log.ts';
import type { SealStore } from './seals.ts';

interface Row {
  readonly origin: OriginId;
  readonly seq: number;
  readonly mark: string;
  readonly by_origin: OriginId;
  readonly by_seq: number;
}

/**
 * The table `named`: marks in operations that are still to be compared, because the number is not known here yet, and those that differ
 * from the mark here. It changes in the transaction that journals the operations, so a crash loses no difference.
 */
export class NamedMarks implements NamedMarkTable {
  readonly #database: JournalDatabase;
  readonly #log: OperationLog;
  readonly #all: Statement<Row>;
  readonly #insert: Statement;
  readonly #remove: Statement;
  readonly #sealed: Statement;
  #rows: readonly Row[] | undefined;

  constructor(database: JournalDatabase, log: OperationLog) {
    this.#database = database;
    this.#log = log;
    this.#all = database.statement('SELECT origin, seq, mark, by_origin, by_seq FROM named');
    this.#insert = database.statement(
      'INSERT OR IGNORE INTO named (origin, seq, mark, by_origin, by_seq) VALUES (?, ?, ?, ?, ?)',
    );
    this.#remove = database.statement('DELETE FROM named WHERE origin = ? AND seq = ? AND mark = ?');
    this.#sealed = database.statement(
      'DELETE FROM named WHERE (origin = ? AND seq > ?) OR (by_origin = ? AND by_seq > ?)',
    );
    database.addHook({
      afterRollback: () => {
        this.#rows = undefined;
      },
    });
  }

  /** Compares the marks in journaled operations, and those that waited for them. Marks of numbers above a seal do not count. */
  compare(operations: readonly Operation[], seals: SealStore): void {
    for (const row of this.#loaded()) {
      if (this.#agrees(row)) this.#change(() => this.#remove.run(row.origin, row.seq, row.mark));
    }
    for (const operation of operations) {
      for (const { origin, seq, mark } of namedMarks(operation)) {
        if (seq > seals.last(origin) || this.#agrees({ origin, seq, mark })) continue;
        this.#change(() => this.#insert.run(origin, seq, mark, operation.origin, operation.seq));
      }
    }
  }

  /** Drops the marks of numbers above a new seal, and those in operations above it. */
  sealed(origin: OriginId, last: number): void {
    this.#change(() => this.#sealed.run(origin, last, origin, last));
  }

  contradictions(): readonly Contradiction[] {
    return this.#loaded()
      .filter(({ origin, seq }) => seq <= this.#log.knownOf(origin))
      .map(({ origin, seq, by_origin, by_seq }) => ({
        named: { origin, seq },
        by: { origin: by_origin, seq: by_seq },
      }));
  }

  #agrees({ origin, seq, mark }: Pick<Row, 'origin' | 'seq' | 'mark'>): boolean {
    return seq <= this.#log.knownOf(origin) && this.#log.mark(origin, seq) === mark;
  }

  #loaded(): readonly Row[] {
    this.#rows ??= this.#all.all();
    return this.#rows;
  }

  #change(write: () => void): void {
    write();
    this.#rows = undefined;
    this.#database.revision += 1;
  }
}
