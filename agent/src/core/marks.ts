import { markBytes, type OriginId, type VersionVector } from '@lockstep/shared';

/** The origins of a vector, in the order in which their marks are sent. */
export function originsInOrder(vector: VersionVector): readonly OriginId[] {
  return (Object.keys(vector) as OriginId[]).sort();
}

/** The mark at `index` of those that were sent, as hexadecimal digits; undefined beyond the end. */
export function markAt(marks: Uint8Array, index: number): string | undefined {
  const bytes = marks.subarray(index * markBytes, (index + 1) * markBytes);
  if (bytes.length < markBytes) return undefined;
  let digits = '';
  for (const byte of bytes) digits += (byte < 16 ? '0' : '') + byte.toString(16);
  return digits;
}

/** Packs marks given as hexadecimal digits into the form in which they are sent. */
export function packMarks(marks: readonly string[]): Uint8Array {
  const bytes = new Uint8Array(marks.length * markBytes);
  marks.forEach((mark, index) => {
    for (let at = 0; at < markBytes; at++) {
      bytes[index * markBytes + at] = Number.parseInt(mark.slice(2 * at, 2 * at + 2), 16);
    }
  });
  return bytes;
}

/** The number of newest operations that are compared one by one. */
const denseMax = 1_024;

/**
 * The numbers of an origin, from `last` down to 1, with which two members search for the point where its log forked. The newest ones come
 * one by one, then the distances double.
 */
export function forkNumbers(last: number): readonly number[] {
  const numbers: number[] = [];
  let distance = 0;
  while (last - distance >= 1) {
    numbers.push(last - distance);
    distance = distance < denseMax ? distance + 1 : distance * 2;
  }
  return numbers;
}

/** `vector` with no number above the seal of its origin. */
export function withinSeals(vector: VersionVector, seals: VersionVector): VersionVector {
  let changed: Record<OriginId, number> | undefined;
  for (const [origin, last] of Object.entries(seals) as [OriginId, number][]) {
    if ((vector[origin] ?? 0) <= last) continue;
    changed ??= { ...vector };
    changed[origin] = last;
  }
  return changed ?? vector;
}
