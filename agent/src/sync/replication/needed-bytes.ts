import type { ContentId, MemberId, Operation } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';
import { holdsIgnoreRules } from '../../core/ignore/ignore-rules.ts';
import type { Peer } from '../members/peer.ts';

/** Contents that were sent in a session and are remembered. */
const rememberedMax = 1_000;

/** The placement of copies of contents. */
export interface ContentPlacement {
  isPlacedOn(operation: Operation, member: MemberId): boolean;
}

/** Selects the operations of a session that carry the bytes of their contents. */
export class NeededBytes {
  readonly #peer: Pick<Peer, 'hello' | 'id' | 'holdings'>;
  readonly #placement: ContentPlacement;
  /** The peer tells only later that it holds them. */
  readonly #sent = new LRUCache<ContentId, true>({ max: rememberedMax });

  constructor(peer: Pick<Peer, 'hello' | 'id' | 'holdings'>, placement: ContentPlacement) {
    this.#peer = peer;
    this.#placement = placement;
  }

  /**
   * True if the peer puts the content of the operation into its folder. One that fetches on demand does that with new versions of files that
   * it has, copies that it keeps, and rules of what is ignored. It fetches others when they are read.
   */
  includes(operation: Operation): boolean {
    if (this.#peer.hello?.onDemand !== true) return true;
    const { path, content } = operation;
    const isNeeded =
      holdsIgnoreRules(path) || this.#replacesHeld(operation) || this.#placement.isPlacedOn(operation, this.#peer.id);
    if (isNeeded && content !== undefined) this.#sent.set(content, true);
    return isNeeded;
  }

  #replacesHeld({ replaced }: Operation): boolean {
    return replaced !== undefined && (this.#sent.has(replaced) || this.#peer.holdings?.mayHave(replaced) === true);
  }
}
