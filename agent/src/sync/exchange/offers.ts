import { announcedContentsMax, type ContentId, type HaveMessage } from '@lockstep/shared';
import type { Peer } from '../members/peer.ts';

/** The blocks of one content that another member has staged, in the order in which it said so. */
export class Offer {
  readonly #known = new Set<number>();
  readonly #indices: number[] = [];
  /** When the member last announced one that was not here, by the monotonic clock. */
  newsMs = 0;
  /** The member did not have what it had announced. */
  isRefused = false;

  get indices(): readonly number[] {
    return this.#indices;
  }

  has(index: number): boolean {
    return this.#known.has(index);
  }

  add(index: number): void {
    if (this.#known.has(index)) return;
    this.#known.add(index);
    this.#indices.push(index);
  }
}

/** The blocks of unfinished contents that other members offer, in their present sessions. */
export class Offers {
  readonly #offers = new Map<Peer, Map<ContentId, Offer>>();

  /** `isHere`: this member has the block. */
  note(peer: Peer, { content, blocks }: HaveMessage, nowMs: number, isHere: (index: number) => boolean): void {
    const known = this.#offers.get(peer) ?? new Map<ContentId, Offer>();
    this.#offers.set(peer, known);
    const offer = known.get(content) ?? new Offer();
    // The one heard of last is at the end.
    known.delete(content);
    known.set(content, offer);
    const [oldest] = known.keys();
    if (known.size > announcedContentsMax && oldest !== undefined) known.delete(oldest);
    if (offer.isRefused) return;
    for (const [from, to] of blocks) {
      for (let index = from; index <= to; index++) {
        if (!offer.has(index) && !isHere(index)) offer.newsMs = nowMs;
        offer.add(index);
      }
    }
  }

  of(peer: Peer, content: ContentId): Offer | undefined {
    const offer = this.#offers.get(peer)?.get(content);
    return offer?.isRefused === true ? undefined : offer;
  }

  /** The member does not have what it offered so far: it may have dropped it, and fetch it again. */
  forget(peer: Peer, content: ContentId): void {
    this.#offers.get(peer)?.delete(content);
  }

  /** Ignores what the member offers of the content, until its session ends. */
  refuse(peer: Peer, content: ContentId): void {
    const offer = this.#offers.get(peer)?.get(content);
    if (offer !== undefined) offer.isRefused = true;
  }

  closed(peer: Peer): void {
    this.#offers.delete(peer);
  }
}
