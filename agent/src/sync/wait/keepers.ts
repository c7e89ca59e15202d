import { LockstepError } from '@lockstep/shared';
import { majorityOf } from '../../core/membership.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';
import type { Context } from '../state/context.ts';
import type { ReplicaCount } from './replica-count.ts';

export interface WaitQuery {
  /** Only this path and the entries below it. */
  readonly path?: string | undefined;
  readonly for: 'all' | 'majority' | number;
  readonly timeoutMs: number;
}

/** The members that are counted: by their acknowledgements those with the whole folder. Those that fetch contents on demand have some of them only. */
export class Keepers {
  /** The other members with the whole folder. */
  readonly others: readonly Peer[];
  readonly #context: Context;
  readonly #all: readonly Peer[];

  constructor(context: Context, peers: Peers, others: readonly Peer[]) {
    this.#context = context;
    this.#all = others;
    this.others = others.filter(({ id }) => !peers.isOnDemand(id));
  }

  get #isFull(): boolean {
    return this.#context.self.onDemand !== true;
  }

  /** True if no member has the whole folder. */
  get areNone(): boolean {
    return !this.#isFull && this.others.length === 0;
  }

  /** The number of members with the whole folder. */
  get full(): number {
    return this.others.length + (this.#isFull ? 1 : 0);
  }

  /** The same, if there are such members among others that fetch contents on demand. */
  get fullAmongOthers(): number | undefined {
    return this.full > 0 && this.full <= this.#all.length ? this.full : undefined;
  }

  /** The number of members that must hold the goal. Throws 'request-invalid' if there are not so many. */
  wanted(asked: WaitQuery['for']): number {
    const members = this.#all.length + 1;
    if (asked === 'majority') return majorityOf(this.areNone ? members : this.others.length + 1);
    if (asked === 'all') return this.areNone ? members : this.full;
    if (asked <= members) return asked;
    const detail = `${asked} members were asked for, and the cluster has ${members}. Ask for all of them, or for fewer.`;
    throw new LockstepError('request-invalid', detail);
  }

  /** The number of members that hold the goal, which is about the entries at `path` and below it. This one counts if it has all of them. */
  count(holders: ReplicaCount, path = ''): number {
    const { journal } = this.#context;
    const isLacking = journal.disk.at(path)?.remote === true || journal.disk.remoteBelow(path, undefined, 1).length > 0;
    return holders.count(this.others, !isLacking);
  }

  /** The number of members with the whole folder that hold the goal. */
  countFull(holders: ReplicaCount): number {
    return holders.count(this.others, this.#isFull);
  }

  /** The number of members that have reached the goal, contents on demand apart: such a member may know of a file, and not have it. */
  countLevel(holders: ReplicaCount): number {
    return holders.count(this.#all, true);
  }

  /** True if all others have reached the goal: those with the whole folder hold it, and the rest know of it. */
  areLevel(holders: ReplicaCount): boolean {
    return holders.count(this.#all, false) === this.#all.length;
  }
}
