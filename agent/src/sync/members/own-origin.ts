import type { Context } from '../state/context.ts';
import type { Peer } from './peers.ts';

/**
 * The origin under which this member numbers its operations. A machine that was set back to a snapshot has forgotten numbers that
 * it gave out. So the numbers go on only where another member has confirmed, since the start, that it knows no more of them; else
 * the next operation begins a new incarnation.
 */
export class OwnOrigin {
  readonly #context: Context;
  readonly #renewed: () => void;
  #confirmed = false;

  /** `renewed` is called after this member began a new incarnation: sessions were opened under the one before. */
  constructor(context: Context, renewed: () => void) {
    this.#context = context;
    this.#renewed = renewed;
    const { journal } = context;
    if ((journal.known()[journal.origin] ?? 0) > 0) return;
    // Under an origin that gives out its first number in this run, none can have been forgotten; unless that was set back too.
    if (this.#hasOthers()) journal.renewOrigin();
    this.#confirmed = true;
  }

  /** A peer whose chains agree with this member's said what it knows. */
  heard(peer: Peer): void {
    if (this.#confirmed) return;
    const { journal } = this.#context;
    const known = peer.known[journal.origin] ?? 0;
    // A newcomer that knows nothing of this member confirms nothing.
    if (known > 0 && known <= (journal.known()[journal.origin] ?? 0)) this.#confirmed = true;
  }

  /** Called before numbers are given out. */
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
    return journal.members().some(({ id, standing }) => id !== self.id && standing === 'joined');
  }

  /** True when `peer` knows numbers of this origin that this journal has lost: then a new incarnation begins. */
  renewIfOutdated(peer: Peer): boolean {
    const { journal, log } = this.#context;
    const { origin } = journal;
    if ((peer.known[origin] ?? 0) <= (journal.known()[origin] ?? 0)) return false;
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
