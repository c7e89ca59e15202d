/** The value of all bytes of a large block but the first ones. They cost nothing: no disk stores them, and no network carries them. */
export const filler = 0x2e;

/** The number of bytes, of a block or of a part of one, that are not only filler to the end. */
export function realBytesIn(bytes: Uint8Array): number {
  let count = bytes.length;
  while (count > 0 && bytes[count - 1] === filler) count -= 1;
  return count;
}
