import { type MemberId, memberOf, type Operation, type OriginId } from '@lockstep/shared';
import { oldestActive } from '../../core/membership.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';

/** This member's data for the choice of the oldest active member. */
export interface Seniority {
  readonly id: MemberId;
  readonly state: 'active' | 'syncing';
  readonly enabledAt?: number | undefined;
}

/**
 * The operations that this member joins: its own, and those of absent members while it is the oldest active one. Those of members on demand
 * whose content is lost belong to the oldest active member with the whole folder: only such members search for contents.
 */
export class Responsibility {
  readonly #self: Context['self'];
  readonly #peers: Peers;
  readonly #seniority: () => Seniority;

  /** `seniority`: that of this member; the present members choose the oldest by it. */
  constructor(self: Context['self'], peers: Peers, seniority: () => Seniority) {
    this.#self = self;
    this.#peers = peers;
    this.#seniority = seniority;
  }

  /** True if this member joins the operation. */
  includes(operation: Operation): boolean {
    if (memberOf(operation.origin) === this.#self.id) return true;
    if (this.#isCaredFor(operation.origin)) return false;
    return oldestActive(this.#present())?.id === this.#self.id;
  }

  /** True if this member settles the operation, whose content is lost. */
  settles(operation: Operation): boolean {
    if (!this.#isOnDemand(memberOf(operation.origin))) return this.includes(operation);
    const whole = this.#present().filter(({ id }) => !this.#isOnDemand(id));
    return oldestActive(whole)?.id === this.#self.id;
  }

  #isOnDemand(id: MemberId): boolean {
    return id === this.#self.id ? this.#self.onDemand === true : this.#peers.isOnDemand(id);
  }

  /** This member, and those with which it has a session. */
  #present() {
    const others = this.#peers.ready().map(({ id, state, enabledAt }) => ({ id, state, enabledAt }));
    return [this.#seniority(), ...others];
  }

  /**
   * Whether the member that made these operations joins them itself. Only a member that is down for all others does not: if a broken
   * session were enough, both of its sides would act for each other, and join the same siblings.
   */
  #isCaredFor(origin: OriginId): boolean {
    const peer = this.#peers.get(memberOf(origin));
    if (peer === undefined || peer.state === 'left') return false;
    // An operation of a lost journal belongs to no present origin.
    if (peer.ready && peer.origin !== origin) return false;
    if (peer.state !== 'down') return true;
    return this.#peers.ready().some(({ heartbeat }) => heartbeat?.latenciesMs[peer.id] !== undefined);
  }
}
