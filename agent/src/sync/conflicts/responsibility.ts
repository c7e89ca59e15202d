import { type MemberId, memberOf, type Operation, type OriginId } from '@lockstep/shared';
import { oldestActive } from '../../core/membership.ts';
import type { Peers } from '../members/peers.ts';

/** This member's data for the choice of the oldest active member. */
export interface Seniority {
  readonly id: MemberId;
  readonly state: 'active' | 'syncing';
  readonly enabledAt?: number | undefined;
}

/** The operations that this member joins: its own, and those of absent members while it is the oldest active one. */
export class Responsibility {
  readonly #selfId: MemberId;
  readonly #peers: Peers;
  readonly #seniority: () => Seniority;

  /** `seniority`: that of this member; the present members choose the oldest by it. */
  constructor(selfId: MemberId, peers: Peers, seniority: () => Seniority) {
    this.#selfId = selfId;
    this.#peers = peers;
    this.#seniority = seniority;
  }

  /** True if this member joins the operation. */
  includes(operation: Operation): boolean {
    if (memberOf(operation.origin) === this.#selfId) return true;
    if (this.#isCaredFor(operation.origin)) return false;
    const present = this.#peers.ready().map(({ id, state, enabledAt }) => ({ id, state, enabledAt }));
    return oldestActive([this.#seniority(), ...present])?.id === this.#selfId;
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
