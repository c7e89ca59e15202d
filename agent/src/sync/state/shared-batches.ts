import type { Operation, OriginId } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';
import type { Journal } from '../ports/journal.ts';

const batchesMax = 16;

/** Reads an origin's operations for several readers at nearly the same position: each batch is read from the journal once. */
export class SharedBatches {
  readonly #journal: Journal;
  readonly #batches = new LRUCache<string, readonly Operation[]>({ max: batchesMax });

  constructor(journal: Journal) {
    this.#journal = journal;
  }

  /** Drops all batches: operations in them may have been cut off. */
  forget(): void {
    this.#batches.clear();
  }

  /** As `Journal.operationsOf`. */
  operationsOf(origin: OriginId, after: number, limit: number): readonly Operation[] {
    const last = this.#journal.log.known()[origin] ?? 0;
    if (after >= last) return [];
    const key = `${origin} ${after} ${limit}`;
    const known = this.#batches.get(key);
    // A batch that was cut short by the end of the log may have grown since.
    if (known !== undefined && (known.length === limit || known.at(-1)?.seq === last)) return known;
    const operations = this.#journal.log.operationsOf(origin, after, limit);
    this.#batches.set(key, operations);
    return operations;
  }
}
