import type { Dot, Operation, OriginId, Version, VersionVector } from '@lockstep/shared';

/** A version that covers nothing. */
export const emptyVersion: Version = { vector: {} };

function sameDot(a: Dot, b: Dot): boolean {
  return a.seq === b.seq && a.origin === b.origin;
}

function hasDot(dots: readonly Dot[] | undefined, dot: Dot): boolean {
  return dots?.some((other) => sameDot(other, dot)) ?? false;
}

/** True when `version` includes the operation `dot`. */
export function covers(version: Version, dot: Dot): boolean {
  return (version.vector[dot.origin] ?? 0) >= dot.seq && !hasDot(version.except, dot);
}

/** True when the author of `a` knew of `b`, so that `a` replaces it. Never true of an operation and itself. */
export function supersedes(a: Operation, b: Operation): boolean {
  return !sameDot(a, b) && covers(a.version, b);
}

/** The union of what the versions include. */
export function joinVersions(versions: readonly Version[]): Version {
  const [first, ...rest] = versions;
  if (first === undefined) return emptyVersion;
  if (rest.length === 0) return first;
  const vector: Record<OriginId, number> = {};
  const except: Dot[] = [];
  for (const version of versions) {
    for (const [origin, seq] of Object.entries(version.vector) as [OriginId, number][]) {
      vector[origin] = Math.max(vector[origin] ?? 0, seq);
    }
  }
  for (const version of versions) {
    for (const dot of version.except ?? []) {
      // An exception of one stays only if none of the others includes that dot.
      if (!hasDot(except, dot) && !versions.some((other) => covers(other, dot))) except.push(dot);
    }
  }
  return except.length === 0 ? { vector } : { vector, except };
}

/**
 * The number above which `nextVersion` needs all operations of `origin` at the path, for a new operation of `origin` that replaces
 * `parents`. Undefined when the heads are enough, which is nearly always.
 *
 * If the parents include every head, they include every earlier operation. If they do not, an operation of our own may be hidden behind a
 * head that others made from it. It is no head any more, but the new operation does not replace it.
 */
export function ownNumbersNeeded(
  origin: OriginId,
  parents: readonly Operation[],
  heads: readonly Operation[],
): number | undefined {
  const base = joinVersions(parents.map((parent) => parent.version));
  return heads.every((head) => covers(base, head)) ? undefined : (base.vector[origin] ?? 0);
}

/**
 * The version of a new operation `dot` that replaces `parents`: exactly what the parents include, and itself. `others` are the heads of the
 * path now. If `ownNumbersNeeded` returned a number, they also hold the operations of the same origin at the path above it. Their order
 * does not matter. Those of the same origin that the parents do not include become exceptions, because the vector alone would include them.
 * If one were included, its own parents would not be, and the heads would depend on the order of arrival.
 */
export function nextVersion(dot: Dot, parents: readonly Operation[], others: readonly Operation[]): Version {
  const base = joinVersions(parents.map((parent) => parent.version));
  const vector = { ...base.vector, [dot.origin]: dot.seq };
  const except = (base.except ?? []).slice();
  for (const other of others) {
    if (other.origin !== dot.origin || covers(base, other)) continue;
    const kept = { origin: other.origin, seq: other.seq };
    if (!hasDot(except, kept)) except.push(kept);
  }
  return except.length === 0 ? { vector } : { vector, except };
}

/** How two vectors compare. `before`: b includes all of a and more. `concurrent`: each has operations that the other lacks. */
export type Ordering = 'equal' | 'before' | 'after' | 'concurrent';

/** Compares the knowledge of two members. */
export function compareVectors(a: VersionVector, b: VersionVector): Ordering {
  let less = false;
  let more = false;
  for (const origin of new Set([...Object.keys(a), ...Object.keys(b)]) as Set<OriginId>) {
    const difference = (a[origin] ?? 0) - (b[origin] ?? 0);
    if (difference < 0) less = true;
    if (difference > 0) more = true;
  }
  if (less && more) return 'concurrent';
  if (less) return 'before';
  return more ? 'after' : 'equal';
}

/** The knowledge of both together: the larger number of each origin. */
export function joinVectors(a: VersionVector, b: VersionVector): VersionVector {
  const joined: Record<OriginId, number> = { ...a };
  for (const [origin, seq] of Object.entries(b) as [OriginId, number][])
    joined[origin] = Math.max(joined[origin] ?? 0, seq);
  return joined;
}

/** The number of operations that `a` knows and `b` does not. */
export function countBeyond(a: VersionVector, b: VersionVector): number {
  let count = 0;
  for (const [origin, seq] of Object.entries(a) as [OriginId, number][]) {
    count += Math.max(0, seq - (b[origin] ?? 0));
  }
  return count;
}
