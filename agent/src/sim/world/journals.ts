import type { MemberId } from '@lockstep/shared';
import { openJournal } from '../../store/journal.ts';
import type { Journal } from '../../sync/ports/journal.ts';
import type { Random } from '../base/random.ts';
import type { JournalShelf } from './journal-shelf.ts';

interface JournalsOptions {
  readonly memberId: MemberId;
  readonly random: Random;
  readonly shelf: JournalShelf;
  /** They are files, and can be copied. */
  readonly hasFiles: boolean;
  readonly nowMs: () => number;
}

/** The journals of a machine, one after the other: each loss and each set-back begins another one. */
export class Journals {
  readonly #options: JournalsOptions;
  readonly #before: Journal[] = [];
  #path = ':memory:';
  #present: Journal;

  constructor(options: JournalsOptions) {
    this.#options = options;
    this.#present = this.#new();
  }

  get present(): Journal {
    return this.#present;
  }

  get hasLost(): boolean {
    return this.#before.length > 0;
  }

  /** Copies the present journal. Returns the path of the copy. */
  copy(): string {
    return this.#options.shelf.copy(this.#path);
  }

  /** Begins an empty journal. */
  lose(): void {
    this.#before.push(this.#present);
    this.#present = this.#new();
  }

  /** Goes back to a copy, which can be used again. */
  setBack(copy: string): void {
    this.#before.push(this.#present);
    this.#present = this.#open(this.#options.shelf.copy(copy));
  }

  /** Closes all databases. */
  close(): void {
    for (const journal of [this.#present, ...this.#before]) journal.close();
  }

  #new(): Journal {
    const { shelf, hasFiles } = this.#options;
    return this.#open(hasFiles ? shelf.next() : ':memory:');
  }

  #open(path: string): Journal {
    this.#path = path;
    const { memberId, nowMs } = this.#options;
    const random = this.#options.random.fork();
    return openJournal({ path, memberId, random: () => random.unit(), nowMs });
  }
}
