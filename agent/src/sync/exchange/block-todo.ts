import type { MemberId } from '@lockstep/shared';
import type { Offer } from './offers.ts';

const open = 0;
const requested = 1;
const here = 2;

/** The part of a content that a member fetches first, while several members fetch it at the same time. */
export interface Share {
  /** Its place among them, from 0, and their number. */
  readonly place: number;
  readonly members: number;
  /** All of them, in this order. */
  readonly ids?: readonly MemberId[];
}

/** The most blocks to come first, of each sort, that are examined for a member with some blocks only: a fetch seldom has more. */
const firstExaminedMax = 64;

/**
 * The blocks of a content that must still be requested. Members that fetch it at the same time begin with different parts, so that each block
 * leaves its origin once: the first part of a member is its own, in ascending order. Then it helps the member before it, from the end.
 */
export class BlockTodo {
  readonly #count: number;
  readonly #firstIndex: number;
  readonly #endIndex: number;
  readonly #share: Share;
  readonly #states: Uint8Array;
  /** The blocks that readers wait for, the first asked first, and those that they need next. */
  #waited: number[] = [];
  #ahead: number[] = [];
  #again: number[] = [];
  #hereCount = 0;
  /** The positions up to which the order was searched: for blocks that no other member offers, and for all. */
  #rare = 0;
  #any = 0;
  /** The position up to which the blocks of each offer were searched. */
  readonly #offered = new Map<Offer, number>();

  constructor(count: number, share: Share = { place: 0, members: 1 }) {
    const { place, members } = share;
    this.#count = count;
    this.#share = share;
    this.#states = new Uint8Array(count);
    this.#firstIndex = Math.floor((count * place) / members);
    this.#endIndex = Math.floor((count * (place + 1)) / members);
  }

  /** The number of blocks that are here. */
  get hereCount(): number {
    return this.#hereCount;
  }

  /**
   * The number of members from the one whose part contains the block to this one, without members that are gone. It is 0 for its own part,
   * and for the parts of gone members just before it.
   */
  distance(index: number, isGone: (member: MemberId) => boolean = () => false): number {
    const { place, members, ids = [] } = this.#share;
    let distance = 0;
    for (let at = Math.ceil(((index + 1) * members) / this.#count) - 1; at !== place; at = (at + 1) % members) {
      const id = ids[at];
      if (id === undefined || !isGone(id)) distance++;
    }
    return distance;
  }

  /** Other members fetch the content as well. */
  get isShared(): boolean {
    return this.#share.members > 1;
  }

  isOpen(index: number): boolean {
    return this.#states[index] === open;
  }

  isHere(index: number): boolean {
    return this.#states[index] === here;
  }

  /** Notes blocks that need not be requested, unless they are put back. */
  skip(indices: Iterable<number>): void {
    for (const index of indices) this.#set(index, here);
  }

  /** Notes that a block is requested. */
  take(index: number): void {
    this.#set(index, requested);
  }

  /** Puts back block `index`, which was taken or skipped, and did not arrive or was wrong. Such blocks come before those that are in turn. */
  again(index: number): void {
    this.#set(index, open);
    this.#again.push(index);
  }

  /**
   * A reader waits for block `index`, and needs `ahead` blocks after it next. The blocks that readers wait for come before all others, in
   * the order in which they asked: the next blocks of one reader do not delay another one.
   */
  prefer(index: number, ahead: number): void {
    if (this.isOpen(index) && !this.#waited.includes(index)) {
      this.#waited = [...this.#waited.filter((waited) => this.isOpen(waited)), index];
    }
    const next: number[] = [];
    for (let at = index + 1; at <= index + ahead && at < this.#count; at++) if (this.isOpen(at)) next.push(at);
    if (next.every((at, place) => this.#ahead[place] === at)) return;
    const preferred = new Set(next);
    this.#ahead = [...next, ...this.#ahead.filter((at) => this.isOpen(at) && !preferred.has(at))];
  }

  /**
   * The next open block for a member that has all blocks: one that no other member offers, if there is one. Undefined if none is open.
   */
  next(isOffered: (index: number) => boolean = () => false): number | undefined {
    for (const first of [this.#waited, this.#again, this.#ahead]) {
      while (first[0] !== undefined && !this.isOpen(first[0])) first.shift();
      if (first[0] !== undefined) return first[0];
    }
    for (; this.#rare < this.#count; this.#rare++) {
      const index = this.#at(this.#rare);
      if (this.isOpen(index) && !isOffered(index)) return index;
    }
    for (; this.#any < this.#count; this.#any++) {
      if (this.isOpen(this.#at(this.#any))) return this.#at(this.#any);
    }
    return undefined;
  }

  /** The next open block of those that a member offers. */
  nextOf(offer: Offer): number | undefined {
    for (const indices of [this.#waited, this.#again, this.#ahead]) {
      const first = indices.slice(0, firstExaminedMax).find((index) => this.isOpen(index) && offer.has(index));
      if (first !== undefined) return first;
    }
    let place = this.#offered.get(offer) ?? 0;
    while (place < offer.indices.length && !this.isOpen(offer.indices[place] as number)) place++;
    this.#offered.set(offer, place);
    return offer.indices[place];
  }

  #at(place: number): number {
    const [first, end] = [this.#firstIndex, this.#endIndex];
    if (place < end - first) return first + place;
    const behind = place - (end - first);
    return behind < first ? first - 1 - behind : this.#count - 1 - (behind - first);
  }

  #set(index: number, state: number): void {
    const before = this.#states[index];
    if (before === state || index >= this.#count) return;
    if (before === here) this.#hereCount--;
    if (state === here) this.#hereCount++;
    this.#states[index] = state;
  }
}
