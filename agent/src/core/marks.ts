import { type Dot, markBytes, type Operation, type OriginId, type Version, type VersionVector } from '@lockstep/shared';

/** The origins of a vector, in the order in which their marks are sent. */
export function originsInOrder(vector: VersionVector): readonly OriginId[] {
  return (Object.keys(vector) as OriginId[]).sort();
}

/** The mark at `index` of those that were sent, as hexadecimal digits; undefined beyond the end. */
export function markAt(marks: Uint8Array, index: number): string | undefined {
  const bytes = marks.subarray(index * markBytes, (index + 1) * markBytes);
  return bytes.length < markBytes ? undefined : hexadecimal(bytes);
}

/** Bytes as hexadecimal digits. */
export function hexadecimal(bytes: Uint8Array): string {
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

/** The mark of an operation that its author did not have. */
const noMark = '00'.repeat(markBytes);

/** The origins of a version whose marks an operation of `origin` has, in their order. */
function namedOrigins(origin: OriginId, { vector }: Version): readonly OriginId[] {
  return originsInOrder(vector).filter((named) => named !== origin);
}

/**
 * The `marks` of an operation of `origin` with this version that replaces `parents`; undefined if it names no other origin. `markOf`: the
 * mark of a number in the author's log, as hexadecimal digits. A number that is not in the log has the mark that a parent names: if that
 * parent is cut off later, a fork at the number can be found only by this operation.
 */
export function marksOf(
  origin: OriginId,
  version: Version,
  { markOf, parents }: { readonly markOf: (dot: Dot) => string | undefined; readonly parents: readonly Operation[] },
): Uint8Array | undefined {
  const named = namedOrigins(origin, version);
  if (named.length === 0) return undefined;
  const markThere = ({ origin: other, seq }: Dot): string | undefined =>
    parents.flatMap(namedMarks).find((dot) => dot.origin === other && dot.seq === seq)?.mark;
  const marks = named.map((other) => {
    const dot = { origin: other, seq: version.vector[other] ?? 0 };
    return markOf(dot) ?? markThere(dot) ?? noMark;
  });
  return packMarks(marks);
}

/** The numbers of other origins that an operation names, with the marks that its author had there. */
export function namedMarks({ origin, version, marks }: Operation): readonly (Dot & { readonly mark: string })[] {
  if (marks === undefined) return [];
  return namedOrigins(origin, version).flatMap((named, index) => {
    const mark = markAt(marks, index);
    return mark === undefined || mark === noMark ? [] : [{ origin: named, seq: version.vector[named] ?? 0, mark }];
  });
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
