import { createHash } from 'node:crypto';
import { carriedOperation, type Operation, type OriginId } from '@lockstep/shared';
import { canonicalText } from '../../core/chain.ts';

/** The chain of an origin before its first operation: 32 bytes. */
export function firstLink(origin: OriginId): Buffer {
  return createHash('sha256').update('lockstep-chain-1 ').update(origin).digest();
}

/**
 * The chain after `operation`: 32 bytes. `previous` is the chain before it. The operation is hashed in the form in which it is sent, which
 * other members have.
 */
export function nextLink(previous: Uint8Array, operation: Operation): Buffer {
  return createHash('sha256')
    .update(previous)
    .update(canonicalText(carriedOperation(operation)))
    .digest();
}

/** The first 48 bits of a link, as a number: the part that enters the digest. */
export function markOfLink(link: Buffer): number {
  return link.readUIntBE(0, 6);
}
