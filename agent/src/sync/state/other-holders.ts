import type { Applied, Dot, MemberId } from '@lockstep/shared';
import { holds } from '../../core/durability.ts';
import type { Journal } from '../ports/journal.ts';
import type { Self } from './context.ts';

/** `unknown`: no member is known to hold it, and not all of them were heard in this run of the agent. */
export type Holding = 'held' | 'nowhere' | 'unknown';

/**
 * Knows which operations other members hold durably: by what they said in this run of the agent, and by what the journal saved of an
 * earlier run. The journal saves it every few seconds only, so after a crash it knows less than the members do.
 */
export class OtherHolders {
  readonly #self: Self;
  readonly #journal: Journal;
  readonly #heard = new Map<MemberId, Applied>();

  constructor(self: Self, journal: Journal) {
    this.#self = self;
    this.#journal = journal;
  }

  /** A member said what it holds. */
  heard(member: MemberId, applied: Applied): void {
    this.#heard.set(member, applied);
  }

  /** Whether any other member holds the operation `dot`. A member that left counts for nothing. */
  holding(dot: Dot): Holding {
    const saved = this.#journal.acks();
    const others = this.#journal.members().filter(({ id, standing }) => id !== this.#self.id && standing !== 'left');
    const applied = others.map(({ id }) => this.#heard.get(id) ?? saved[id]);
    if (applied.some((known) => known && holds(known, dot))) return 'held';
    return others.every(({ id }) => this.#heard.has(id)) ? 'nowhere' : 'unknown';
  }
}
