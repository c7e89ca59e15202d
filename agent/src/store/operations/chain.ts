import { hash } from 'node:crypto';
import { carriedOperation, type Operation, type OriginId } from '@lockstep/shared';
import { canonicalText } from '../../core/chain.ts';

/** The chain of an origin before its first operation: 32 bytes. */
export function firstLink(origin: OriginId): Buffer {
  return hash('sha256', `lockstep-chain-1 ${origin}`, 'buffer');
}

/**
 * The chain after `operation`: 32 bytes. `previous` is the chain before it. The operation is hashed in the form in which it is sent, which
 * other members have.
 */
export function nextLink(previous: Uint8Array, operation: Operation): Buffer {
  const text = canonicalText(carriedOperation(operation));
  // Room for any text: a UTF-16 unit has at most three bytes in UTF-8.
  const hashed = Buffer.allocUnsafe(previous.length + 3 * text.length);
  hashed.set(previous);
  const end = previous.length + hashed.write(text, previous.length);
  return hash('sha256', hashed.subarray(0, end), 'buffer');
}

/** The first 48 bits of a link, as a number: the part that enters the digest. */
export function markOfLink(link: Buffer): number {
  return link.readUIntBE(0, 6);
}
