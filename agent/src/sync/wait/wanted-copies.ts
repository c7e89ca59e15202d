import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ContentSearch } from '../transfer/content-search.ts';
import type { Blocking } from './blocking.ts';
import { CopyCount } from './copy-count.ts';
import type { Keepers, WaitQuery } from './keepers.ts';
import type { ReplicaCount } from './replica-count.ts';

/** The members on demand are asked for what is missing there at most so often. */
const askIntervalMs = 250;
/** So long they are asked before the wait looks around again. */
const askMsMax = 500;

/** On how many members the contents of files are kept, by the rules: the largest number, and that of a path. */
export interface RuledCopies {
  readonly mostWanted: number;
  wantedOf(path: string): number | 'all';
}

interface Parts {
  readonly context: Context;
  readonly peers: Peers;
  readonly search: ContentSearch;
  readonly copies: RuledCopies;
}

/** The query of a wait, and the members that it counts. */
interface WantedCount {
  readonly query: WaitQuery;
  readonly keepers: Keepers;
  /** The number of members that must have the contents. */
  readonly wanted: number;
}

/** The copies on members on demand that a wait needs in addition to the members that are counted by what they acknowledge. */
export class WantedCopies {
  readonly #parts: Parts;
  readonly #query: WaitQuery;
  readonly #keepers: Keepers;
  readonly #wanted: number;
  #count: CopyCount | undefined;
  #againAtMs = 0;
  /** Files that lack copies, as of the last answers. */
  blocking: readonly Blocking[] = [];

  constructor(parts: Parts, { query, keepers, wanted }: WantedCount) {
    this.#parts = parts;
    this.#query = query;
    this.#keepers = keepers;
    this.#wanted = wanted;
  }

  /** The largest number of copies that a rule wants, if a wait for all counts copies on members on demand because of it. */
  get ruled(): number | undefined {
    const { mostWanted } = this.#parts.copies;
    const { areNone, full } = this.#keepers;
    return this.#query.for === 'all' && !areNone && mostWanted > full ? mostWanted : undefined;
  }

  /** True if the wait is over. `areEnough`: enough members hold all that they are to hold. */
  async suffice(holders: ReplicaCount, areEnough: boolean): Promise<boolean> {
    const { clock } = this.#parts.context;
    const { full: fullMembers, areNone } = this.#keepers;
    if (this.#query.for === 'all') {
      if (!areEnough || (!areNone && this.ruled === undefined)) return areEnough;
    } else if (areEnough) return true;
    else if (this.#wanted <= fullMembers || this.#keepers.countLevel(holders) < this.#wanted) return false;
    if (clock.monotonicMs() < this.#againAtMs) return false;
    const full = this.#keepers.countFull(holders);
    if (this.#count?.full !== full) {
      const wantedOf = (path: string): number => this.#wantedOf(path);
      this.#count = new CopyCount(this.#parts, this.#query.path ?? '', { full, wantedOf });
    }
    const untilMs = clock.monotonicMs() + askMsMax;
    do this.blocking = await this.#count.ask();
    while (this.blocking.length === 0 && !this.#count.isDone && clock.monotonicMs() < untilMs);
    if (this.blocking.length > 0) this.#againAtMs = clock.monotonicMs() + askIntervalMs;
    return this.#count.isDone;
  }

  #wantedOf(path: string): number {
    if (this.#query.for !== 'all') return this.#wanted;
    const byRule = this.#parts.copies.wantedOf(path);
    if (byRule !== 'all') return byRule;
    // All members with the whole folder have it. If there are none, one other than this one must.
    const isHere = this.#parts.context.journal.disk.at(path)?.fingerprint !== undefined;
    return this.#keepers.areNone && isHere ? Math.min(2, this.#wanted) : 1;
  }
}
