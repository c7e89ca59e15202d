import { blocksInFlightPerSourceMax, smallBlocksInFlightMin } from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import type { Peer } from '../members/peer.ts';

/** A request for a block of a content from a peer. */
export interface BlockRequest<Fetch> {
  readonly fetch: Fetch;
  readonly index: number;
  readonly peer: Peer;
  /** Time since which all earlier requests to the peer have been answered: peers answer in order, but for small contents. */
  dueSinceMs: number;
}

/** The requests for blocks that are open, and the number of places that each source has for further ones. */
export class BlockRequests<Fetch extends { readonly size: number }> {
  /** By id; ids ascend. */
  readonly #open = new Map<number, BlockRequest<Fetch>>();
  /** Blocks that were requested and have not been staged. */
  readonly #inFlight = new Map<Peer, number>();
  #id = 0;

  /** Whether a further block may be requested from the peer: a few small contents even if large ones have all places. */
  hasPlace({ size }: Fetch, peer: Peer): boolean {
    if ((this.#inFlight.get(peer) ?? 0) < blocksInFlightPerSourceMax) return true;
    if (blockCount(size) > 1) return false;
    return this.#of(peer).filter(({ fetch }) => blockCount(fetch.size) === 1).length < smallBlocksInFlightMin;
  }

  /** Bytes that were requested from the peer and have not come. */
  requestedBytes(peer: Peer): number {
    return this.#of(peer).reduce((sum, { fetch, index }) => sum + blockRange(fetch.size, index).length, 0);
  }

  /** Adds a request and returns its id. */
  add(fetch: Fetch, index: number, peer: Peer, nowMs: number): number {
    const id = ++this.#id;
    this.#open.set(id, { fetch, index, peer, dueSinceMs: nowMs });
    this.#inFlight.set(peer, (this.#inFlight.get(peer) ?? 0) + 1);
    return id;
  }

  /** Removes the request that the peer has answered; undefined if there is none. It keeps its place until `release`. */
  take(peer: Peer, id: number, nowMs: number): BlockRequest<Fetch> | undefined {
    const request = this.#open.get(id);
    if (request?.peer !== peer) return undefined;
    this.#open.delete(id);
    for (const [later, behind] of this.#open) {
      if (later > id && behind.peer === peer) behind.dueSinceMs = nowMs;
    }
    return request;
  }

  /** Gives the place of a request back. */
  release(peer: Peer): void {
    this.#inFlight.set(peer, Math.max(0, (this.#inFlight.get(peer) ?? 0) - 1));
  }

  /** Removes the open requests of a fetch with their places, and returns the indices of their blocks. */
  withdraw(fetch: Fetch): readonly number[] {
    const indices: number[] = [];
    for (const [id, request] of this.#open) {
      if (request.fetch !== fetch) continue;
      this.#open.delete(id);
      this.release(request.peer);
      indices.push(request.index);
    }
    return indices;
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
    return ended;
  }

  /** All open requests. */
  all(): readonly BlockRequest<Fetch>[] {
    return [...this.#open.values()];
  }

  #of(peer: Peer): readonly BlockRequest<Fetch>[] {
    return this.all().filter((request) => request.peer === peer);
  }
}
