import { LockstepError } from '@lockstep/shared';
import { majorityOf } from '../../core/membership.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ReplicaCount } from './replica-count.ts';
import type { WaitQuery } from './wait.ts';

/** The members that are counted: not those that fetch contents on demand, which have some of them only. */
export class Keepers {
  readonly others: readonly Peer[];
  readonly #context: Context;
  readonly #onDemand: readonly Peer[];

  constructor(context: Context, peers: Peers, others: readonly Peer[]) {
    this.#context = context;
    this.others = others.filter(({ id }) => !peers.isOnDemand(id));
    this.#onDemand = others.filter(({ id }) => peers.isOnDemand(id));
  }

  /** The number of members that must hold the goal. Throws 'request-invalid' if there are not so many. */
  wanted(asked: WaitQuery['for']): number {
    const isFull = this.#context.self.onDemand !== true;
    const most = this.others.length + 1;
    if (asked === 'majority') return majorityOf(most);
    // If none has the whole folder, this member alone is left to count.
    if (asked === 'all') return this.others.length + (isFull || this.others.length === 0 ? 1 : 0);
    if (asked <= most) return asked;
    const rest = this.#onDemand.length;
    const why = rest === 0 ? '' : `, without ${rest} that fetch${rest === 1 ? 'es' : ''} contents on demand`;
    const detail = `${asked} members were asked for, and the cluster has ${most}${why}. Ask for all of them, or for fewer.`;
    throw new LockstepError('request-invalid', detail);
  }

  /** The number of members that hold the goal, which is about the entries at `path` and below it. */
  count(holders: ReplicaCount, path = ''): number {
    const { journal } = this.#context;
    const isLacking = journal.disk(path)?.remote === true || journal.remoteBelow(path, undefined, 1).length > 0;
    return holders.count(this.others, !isLacking);
  }

  /** True if all have reached the goal: those with the whole folder hold it, and the others know of it. */
  areLevel(holders: ReplicaCount): boolean {
    const all = this.others.length + this.#onDemand.length;
    return holders.count([...this.others, ...this.#onDemand], false) === all;
  }
}
