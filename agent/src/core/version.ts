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

/** True when `a` was made knowing of `b`, and so replaces it. Never true of an operation and itself. */
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
 * Where the heads of a path do not tell enough to make the version of a new operation of `origin` that replaces `parents`:
 * the number above which all operations of `origin` at the path must be looked up and given to `nextVersion` too. Undefined
 * when the heads are enough, which is nearly always.
 *
 * When the parents include every head, they include whatever was there before. When they do not, an operation of our own may
 * hide behind a head that others made from it: no head any more, and yet none of ours to supersede.
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
 * The version of a new operation `dot` that replaces `parents`: exactly what the parents include, and itself. `others` are
 * the heads of the path now, and where `ownNumbersNeeded` says so, the operations of the same origin at the path above that
 * number, in any order. Those of the same origin that the parents do not include become exceptions, because the vector alone
 * would swallow them. Were one swallowed, then what it replaced would not be, and the heads would depend on the order of arrival.
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

/** `before`: b includes all of a and more. `concurrent`: each has something that the other lacks. */
export type Ordering = 'equal' | 'before' | 'after' | 'concurrent';

/** Compares two members' knowledge. */
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

/** What one of the two knows. */
export function joinVectors(a: VersionVector, b: VersionVector): VersionVector {
  const joined: Record<OriginId, number> = { ...a };
  for (const [origin, seq] of Object.entries(b) as [OriginId, number][])
    joined[origin] = Math.max(joined[origin] ?? 0, seq);
  return joined;
}

/** How many operations `a` knows that `b` does not. */
export function countBeyond(a: VersionVector, b: VersionVector): number {
  let count = 0;
  for (const [origin, seq] of Object.entries(a) as [OriginId, number][]) {
    count += Math.max(0, seq - (b[origin] ?? 0));
  }
  return count;
}
