import { type Applied, type Dot, type MemberId, memberOf } from '@lockstep/shared';
import { holds } from '../../core/durability.ts';
import type { Journal } from '../ports/journal.ts';

/** Whether other members hold an operation. `unknown`: none is known to, and not all were heard in this run of the agent. */
export type Holding = 'held' | 'nowhere' | 'unknown';

/**
 * The operations that other members hold durably, by their acknowledgements: those of this run of the agent, and those that the
 * journal saved in an earlier one. The journal saves them every few seconds only, so that after a crash it is behind the members.
 */
export class OtherHolders {
  readonly #self: MemberId;
  readonly #journal: Journal;
  readonly #heard = new Map<MemberId, Applied>();

  constructor(self: MemberId, journal: Journal) {
    this.#self = self;
    this.#journal = journal;
  }

  /** Records the acknowledgement of a member. */
  heard(member: MemberId, applied: Applied): void {
    this.#heard.set(member, applied);
  }

  /** Whether any other member holds the operation `dot`. A member that left does not count. */
  holding(dot: Dot): Holding {
    const saved = this.#journal.acks.all();
    const others = this.#journal.members
      .all()
      .filter(({ id, membership }) => id !== this.#self && membership !== 'left');
    const applied = others.map(({ id }) => this.#heard.get(id) ?? saved[id]);
    if (applied.some((known) => known && holds(known, dot))) return 'held';
    return others.every(({ id }) => this.#heard.has(id)) ? 'nowhere' : 'unknown';
  }

  /** True if the member acknowledged the operation. */
  isHeldBy(member: MemberId, dot: Dot): boolean {
    const applied = this.#heard.get(member) ?? this.#journal.acks.all()[member];
    return applied !== undefined && holds(applied, dot);
  }

  /** True if the member wrote the operation or held it, so that it may have the content still. */
  hadIt(member: MemberId, dot: Dot): boolean {
    return member === memberOf(dot.origin) || this.isHeldBy(member, dot);
  }
}
