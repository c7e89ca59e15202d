import type { Context } from '../state/context.ts';
import type { Peer } from './peer.ts';

/**
 * The origin under which this member numbers its operations. A machine that was restored from a snapshot has forgotten numbers that
 * it used. So numbering continues only after another member has confirmed, since the start, that it knows no higher ones. Otherwise
 * the next operation begins a new incarnation.
 */
export class OwnOrigin {
  readonly #context: Context;
  readonly #renewed: () => void;
  #confirmed = false;

  /** `renewed` is called after this member began a new incarnation: sessions were opened under the previous one. */
  constructor(context: Context, renewed: () => void) {
    this.#context = context;
    this.#renewed = renewed;
    const { journal } = context;
    if ((journal.log.known()[journal.origin] ?? 0) > 0) return;
    // An origin whose first number is used in this run cannot have lost any, unless the journal was restored as well.
    if (this.#hasOthers()) journal.renewOrigin();
    this.#confirmed = true;
  }

  /** Handles the claim of a peer whose chains agree with this member's. */
  heard(peer: Peer): void {
    if (this.#confirmed) return;
    const { journal } = this.#context;
    const known = peer.known[journal.origin] ?? 0;
    // A newcomer that knows no operation of this member confirms nothing.
    if (known > 0 && known <= (journal.log.known()[journal.origin] ?? 0)) this.#confirmed = true;
  }

  /** Begins a new incarnation if the last number is not confirmed. Must be called before numbers are used. */
  ensure(): void {
    if (this.#confirmed) return;
    if (!this.#hasOthers()) return;
    const { journal, log } = this.#context;
    log.info(
      { origin: journal.origin },
      'no other member has confirmed the last number of this member since it started',
    );
    this.renew();
  }

  #hasOthers(): boolean {
    const { journal, self } = this.#context;
    return journal.members.all().some(({ id, membership }) => id !== self.id && membership === 'joined');
  }

  /** Begins a new incarnation if `peer` knows numbers of this origin that this journal has lost. Returns whether it did. */
  renewIfOutdated(peer: Peer): boolean {
    const { journal, log } = this.#context;
    const { origin } = journal;
    if ((peer.known[origin] ?? 0) <= (journal.log.known()[origin] ?? 0)) return false;
    log.warn({ origin, peer: peer.id }, 'the journal is older than what others know of it');
    this.renew();
    return true;
  }

  /** Begins a new incarnation. */
  renew(): void {
    const { journal, log } = this.#context;
    journal.renewOrigin();
    this.#confirmed = true;
    log.info({ origin: journal.origin }, 'a new incarnation begins');
    this.#renewed();
  }
}
