import { base32nopad } from '@scure/base';

/** RFC 4648 base32 in lower case, without padding. */
export function encodeBase32(bytes: Uint8Array): string {
  return base32nopad.encode(bytes).toLowerCase();
}

/** The bytes that `text` encodes, or undefined when it is not a result of `encodeBase32`. */
export function decodeBase32(text: string): Uint8Array | undefined {
  // The library takes upper case, which would turn letters of other alphabets into these.
  if (!/^[a-z2-7]*$/.test(text)) return undefined;
  try {
    return base32nopad.decode(text.toUpperCase());
  } catch {
    return undefined;
  }
}
