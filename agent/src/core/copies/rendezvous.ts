import type { ContentId, MemberId } from '@lockstep/shared';

/** A member that may be chosen. */
export interface Candidate {
  readonly id: MemberId;
  /** Its share of the contents is in proportion to this; above 0. */
  readonly weight: number;
}

/**
 * The `count` members that keep a content, best first; all if there are not more. All who know the same candidates choose the same ones. If one
 * goes or its weight falls, only contents that it had are placed elsewhere. (Rendezvous hashing: Thaler and Ravishankar, "Using name-based
 * mappings to increase hit rates", IEEE/ACM Transactions on Networking 1998; with weights, as -weight / ln(hash): Schindelhauer and Schomaker,
 * "Weighted distributed hash tables", SPAA 2005.)
 */
export function chooseMembers(content: ContentId, candidates: readonly Candidate[], count: number): MemberId[] {
  if (count <= 0) return [];
  if (candidates.length <= count) return candidates.map(({ id }) => id);
  const scored = candidates.map(({ id, weight }) => ({ id, score: -weight / Math.log(uniform(content, id)) }));
  return scored
    .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
    .slice(0, count)
    .map(({ id }) => id);
}

/** A number above 0 and below 1, from the last digits of the content's hash. It depends on all of a pair, and is the same everywhere. */
function uniform(content: ContentId, member: MemberId): number {
  const high = mixed(hashOf(member, 0) ^ Number.parseInt(content.slice(-16, -8), 16));
  const low = mixed(hashOf(member, 1) ^ Number.parseInt(content.slice(-8), 16) ^ high);
  return ((high >>> 6) * 2 ** 26 + (low >>> 6) + 0.5) / 2 ** 52;
}

/** The hash FNV-1a, 32 bits, of a member's id. An id is that of a key: its characters are random. */
function hashOf(member: MemberId, seed: number): number {
  let hash = 0x811c9dc5 ^ seed;
  for (let index = 0; index < member.length; index++) hash = Math.imul(hash ^ member.charCodeAt(index), 0x01000193);
  return hash;
}

/** Spreads the bits of 32: the last step of MurmurHash3 (Appleby). */
function mixed(bits: number): number {
  let hash = bits ^ (bits >>> 16);
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
