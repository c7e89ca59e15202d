/**
 * The chunks of bytes, cut by their content (FastCDC: Xia et al., 2016 and 2020). Bytes that moved are cut at the same places again, after
 * the first few chunks. All constants here are a part of the wire protocol: docs/PROTOCOL.md, section 11.
 */

/** No chunk but the last one is shorter: shorter ones cost more to describe than they save. */
export const chunkBytesMin = 4_096;

/** The length from which on cuts are more frequent. One edit sends about one chunk. */
export const chunkBytesNormal = 16_384;

/** No chunk is longer. Bytes without a cut, such as zeros, are divided here. */
export const chunkBytesMax = 65_536;

/** The bits of the rolling hash that are zero at a cut: 16 before the normal length, and 12 after it. */
const maskBefore = 0xffff0000 | 0;
const maskAfter = 0xfff00000 | 0;

/** A pseudorandom number for each value of a byte: the finalizer of MurmurHash3 over the multiples of the golden ratio. */
const gear = Int32Array.from({ length: 256 }, (_, value) => {
  let hash = Math.imul(value + 1, 0x9e3779b9);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
});

/** The end of the chunk of `bytes` that begins at `start`. */
export function chunkEnd(bytes: Uint8Array, start: number): number {
  const left = bytes.length - start;
  if (left <= chunkBytesMin) return bytes.length;
  const end = start + Math.min(left, chunkBytesMax);
  const normal = Math.min(start + chunkBytesNormal, end);
  let at = start + chunkBytesMin;
  let hash = 0;
  for (; at < normal; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & maskBefore) === 0) return at + 1;
  }
  for (; at < end; at++) {
    hash = ((hash << 1) + (gear[bytes[at] as number] as number)) | 0;
    if ((hash & maskAfter) === 0) return at + 1;
  }
  return end;
}
