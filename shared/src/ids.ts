/** Base32 (RFC 4648, lower case, no padding) of the SHA-256 of a member's public key: 52 characters. */
export type MemberId = string & { readonly __brand: 'MemberId' };

/**
 * The id of a sequence of operation numbers: a member id, a dot, and the incarnation of its journal (8 base32 characters). After the loss
 * of a journal the new one has a new incarnation, so no sequence number is ever used twice.
 */
export type OriginId = string & { readonly __brand: 'OriginId' };

/** `b3:` (one block) or `b3t:` (a tree of blocks) and 64 hexadecimal digits. The prefix keeps the two domains apart. */
export type ContentId = string & { readonly __brand: 'ContentId' };

const memberIdPattern = /^[a-z2-7]{52}$/;
const originIdPattern = /^[a-z2-7]{52}\.[a-z2-7]{8}$/;
const contentIdPattern = /^b3t?:[0-9a-f]{64}$/;

export function isMemberId(value: unknown): value is MemberId {
  return typeof value === 'string' && memberIdPattern.test(value);
}

export function isOriginId(value: unknown): value is OriginId {
  return typeof value === 'string' && originIdPattern.test(value);
}

export function isContentId(value: unknown): value is ContentId {
  return typeof value === 'string' && contentIdPattern.test(value);
}

/** Joins a member id and an incarnation. */
export function originId(member: MemberId, incarnation: string): OriginId {
  return `${member}.${incarnation}` as OriginId;
}

/** The member whose journal numbered the operation. */
export function memberOf(origin: OriginId): MemberId {
  return origin.slice(0, 52) as MemberId;
}

/** True if the content has at most one block. */
export function hasOneBlock(content: ContentId): boolean {
  return content.startsWith('b3:');
}
