import { announcedBlocksMax, type ContentId, type Operation, type SeqRange } from '@lockstep/shared';
import { holds } from '../../core/durability.ts';
import type { Peer } from '../members/peer.ts';
import type { Peers } from '../members/peers.ts';

interface Announced {
  operation: Operation;
  /** The staged blocks, in the order in which they came. */
  readonly indices: number[];
  /** How many of them each member knows, in the session with this number. */
  readonly told: Map<Peer, { readonly session: number; readonly count: number }>;
}

/** Tells the members that lack a content which of its blocks this one has already. */
export class Announcements {
  readonly #peers: Peers;
  readonly #contents = new Map<ContentId, Announced>();

  constructor(peers: Peers) {
    this.#peers = peers;
  }

  /** Notes staged blocks of a content. */
  add(content: ContentId, operation: Operation, indices: readonly number[]): void {
    const known: Announced = this.#contents.get(content) ?? { operation, indices: [], told: new Map() };
    this.#contents.set(content, known);
    for (const index of indices) known.indices.push(index);
  }

  /** Notes that another operation shows the content. */
  renamed(content: ContentId, operation: Operation): void {
    const known = this.#contents.get(content);
    if (known !== undefined) known.operation = operation;
  }

  /** Says what is new, with one message for each content and member. */
  flush(): void {
    for (const [content, announced] of this.#contents) this.#tell(content, announced);
  }

  /** Says the rest, and forgets the content. */
  end(content: ContentId): void {
    const announced = this.#contents.get(content);
    if (announced === undefined) return;
    this.#tell(content, announced);
    this.#contents.delete(content);
  }

  #tell(content: ContentId, { operation, indices, told }: Announced): void {
    for (const peer of this.#peers.ready()) {
      if (holds(peer.applied, operation)) continue;
      const before = told.get(peer);
      const from = before?.session === peer.sessions ? before.count : 0;
      const count = Math.min(indices.length, from + announcedBlocksMax);
      if (count === from) continue;
      told.set(peer, { session: peer.sessions, count });
      peer.link?.send({ type: 'have', content, blocks: rangesOf(indices.slice(from, count)) });
    }
  }
}

/** Ascending ranges of these indices. */
function rangesOf(indices: readonly number[]): readonly SeqRange[] {
  const ranges: [number, number][] = [];
  for (const index of indices.toSorted((a, b) => a - b)) {
    const last = ranges.at(-1);
    if (last !== undefined && index <= last[1] + 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges;
}
