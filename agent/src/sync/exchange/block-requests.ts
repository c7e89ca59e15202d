import { blockBytes, blocksInFlightPerSourceMax, smallBlocksInFlightMin } from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import type { Peer } from '../members/peer.ts';

/** The share of a place that a small block takes: it needs little memory, but some time of the peer. */
const placesMin = 1 / 8;

/** A request for a block of a content from a peer. */
export interface BlockRequest<Fetch> {
  readonly id: number;
  readonly fetch: Fetch;
  readonly index: number;
  readonly peer: Peer;
  /** The peer offered this block while it fetches the content itself. */
  readonly isOffered: boolean;
  /** The block came from another peer, or is requested from one because this one stalls. Its answer still occupies the link. */
  isVoid: boolean;
  /** It was withdrawn. The answer, which says that there is no block, tells nothing of the source. */
  isWithdrawn: boolean;
  /**
   * Time since which all earlier requests to the peer have been answered, and it has not said that it sends. Peers answer in order, but for
   * small contents.
   */
  dueSinceMs: number;
}

/** The requests for blocks that are open, and the number of places that each source has for further ones. */
export class BlockRequests<Fetch extends { readonly size: number }> {
  /** By id; ids ascend. */
  readonly #open = new Map<number, BlockRequest<Fetch>>();
  /** The ids of requests that are given up. An answer to one may still come. */
  readonly #givenUp = new Map<Peer, Set<number>>();
  /** Places of the blocks that were requested and have not been staged. */
  readonly #inFlight = new Map<Peer, number>();
  /** Bytes that were requested from each peer and have not come. */
  readonly #bytes = new Map<Peer, number>();
  #id = 0;

  /** True if a further block may be requested from the peer. A few small contents may be requested even if large ones have all places. */
  hasPlace({ size }: Fetch, peer: Peer): boolean {
    if (this.inFlight(peer) + placesFor(Math.min(size, blockBytes)) <= blocksInFlightPerSourceMax) return true;
    if (blockCount(size) > 1) return false;
    return this.#of(peer).filter(({ fetch }) => blockCount(fetch.size) === 1).length < smallBlocksInFlightMin;
  }

  /** The places of the blocks that were requested from the peer and have not been staged: one for each whole block. */
  inFlight(peer: Peer): number {
    return this.#inFlight.get(peer) ?? 0;
  }

  /** Bytes that were requested from the peer and have not come. */
  requestedBytes(peer: Peer): number {
    return this.#bytes.get(peer) ?? 0;
  }

  /** The requests of a fetch that are not void, each with the bytes that were requested from its peer before and with it. */
  pending(fetch: Fetch): readonly { readonly request: BlockRequest<Fetch>; readonly aheadBytes: number }[] {
    const ahead = new Map<Peer, number>();
    const pending: { readonly request: BlockRequest<Fetch>; readonly aheadBytes: number }[] = [];
    for (const request of this.#open.values()) {
      const aheadBytes = (ahead.get(request.peer) ?? 0) + bytesOf(request);
      ahead.set(request.peer, aheadBytes);
      if (request.fetch === fetch && !request.isVoid) pending.push({ request, aheadBytes });
    }
    return pending;
  }

  /** True while a request for the block is open that is not void. */
  isPending(fetch: Fetch, index: number): boolean {
    return this.all().some((one) => one.fetch === fetch && one.index === index && !one.isVoid);
  }

  /** Adds a request and returns its id. */
  add(request: Pick<BlockRequest<Fetch>, 'fetch' | 'index' | 'peer' | 'isOffered'>, nowMs: number): number {
    const id = ++this.#id;
    const { peer } = request;
    const added = { ...request, id, isVoid: false, isWithdrawn: false, dueSinceMs: nowMs };
    this.#open.set(id, added);
    this.#inFlight.set(peer, this.inFlight(peer) + placesFor(bytesOf(added)));
    this.#bytes.set(peer, this.requestedBytes(peer) + bytesOf(added));
    return id;
  }

  /**
   * Removes the request that the peer has answered. It keeps its place until `release`. `given-up`: the answer is no longer needed.
   * `unasked`: the peer was not asked, or has answered already.
   */
  take(peer: Peer, id: number, nowMs: number): BlockRequest<Fetch> | 'given-up' | 'unasked' {
    const request = this.#open.get(id);
    if (request?.peer !== peer) return this.#givenUp.get(peer)?.delete(id) === true ? 'given-up' : 'unasked';
    this.#remove(id, request);
    for (const [later, behind] of this.#open) {
      if (later > id && behind.peer === peer) behind.dueSinceMs = nowMs;
    }
    return request;
  }

  /** Notes that these members are sending what was requested from them. */
  extend(isSending: (peer: Peer) => boolean, nowMs: number): void {
    for (const request of this.#open.values()) if (isSending(request.peer)) request.dueSinceMs = nowMs;
  }

  /** Gives the place of a request back. */
  release(request: BlockRequest<Fetch>): void {
    const { peer } = request;
    this.#inFlight.set(peer, Math.max(0, this.inFlight(peer) - placesFor(bytesOf(request))));
  }

  /**
   * Withdraws the open requests of a fetch, those for one block or all, and returns them. They keep their places until they are answered: a block
   * may have begun to leave.
   */
  withdraw(fetch: Fetch, index?: number): readonly BlockRequest<Fetch>[] {
    const requests = this.all().filter(
      (request) => request.fetch === fetch && !request.isWithdrawn && (index === undefined || request.index === index),
    );
    for (const request of requests) Object.assign(request, { isVoid: true, isWithdrawn: true });
    return requests;
  }

  /** Gives up the open requests of a fetch to one peer, with their places, and returns them. */
  giveUp(fetch: Fetch, peer: Peer): readonly BlockRequest<Fetch>[] {
    const requests: BlockRequest<Fetch>[] = [];
    for (const [id, request] of this.#open) {
      if (request.fetch !== fetch || request.peer !== peer) continue;
      this.#remove(id, request);
      const givenUp = this.#givenUp.get(request.peer) ?? new Set();
      this.#givenUp.set(request.peer, givenUp.add(id));
      this.release(request);
      requests.push(request);
    }
    return requests;
  }

  /** Removes and returns the open requests to a peer whose session has ended. */
  closed(peer: Peer): readonly BlockRequest<Fetch>[] {
    const ended: BlockRequest<Fetch>[] = [];
    for (const [id, request] of this.#open) {
      if (request.peer !== peer) continue;
      this.#open.delete(id);
      ended.push(request);
    }
    this.#inFlight.delete(peer);
    this.#bytes.delete(peer);
    this.#givenUp.delete(peer);
    return ended;
  }

  /** All open requests. */
  all(): readonly BlockRequest<Fetch>[] {
    return [...this.#open.values()];
  }

  /** True while an answer of the peer is awaited. */
  awaits(peer: Peer): boolean {
    return this.requestedBytes(peer) > 0;
  }

  #remove(id: number, request: BlockRequest<Fetch>): void {
    this.#open.delete(id);
    this.#bytes.set(request.peer, this.requestedBytes(request.peer) - bytesOf(request));
  }

  #of(peer: Peer): readonly BlockRequest<Fetch>[] {
    return this.all().filter((request) => request.peer === peer);
  }
}

function placesFor(bytes: number): number {
  return Math.max(placesMin, bytes / blockBytes);
}

function bytesOf({ fetch, index }: BlockRequest<{ readonly size: number }>): number {
  return blockRange(fetch.size, index).length;
}
