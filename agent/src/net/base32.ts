import { base32nopad } from '@scure/base';

/** RFC 4648 base32 in lower case, without padding. */
export function encodeBase32(bytes: Uint8Array): string {
  return base32nopad.encode(bytes).toLowerCase();
}

/** The bytes that `text` stands for, or undefined when `encodeBase32` gives no such text. */
export function decodeBase32(text: string): Uint8Array | undefined {
  // In upper case, which the library wants, letters of other alphabets would be taken for these.
  if (!/^[a-z2-7]*$/.test(text)) return undefined;
  try {
    return base32nopad.decode(text.toUpperCase());
  } catch {
    return undefined;
  }
}
