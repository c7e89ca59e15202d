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
 * The version of a new operation `dot` that replaces `parents`. `standing` are the heads of the path now: those of the same
 * origin that are not among what the parents include must stay, and become exceptions (the vector alone would swallow them).
 */
export function nextVersion(dot: Dot, parents: readonly Operation[], standing: readonly Operation[]): Version {
  const base = joinVersions(parents.map((parent) => parent.version));
  const vector = { ...base.vector, [dot.origin]: dot.seq };
  const except = (base.except ?? []).slice();
  for (const head of standing) {
    if (head.origin !== dot.origin || covers(base, head)) continue;
    const kept = { origin: head.origin, seq: head.seq };
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

/** How many operations `a` knows that `b` does not. */
export function countBeyond(a: VersionVector, b: VersionVector): number {
  let count = 0;
  for (const [origin, seq] of Object.entries(a) as [OriginId, number][]) {
    count += Math.max(0, seq - (b[origin] ?? 0));
  }
  return count;
}
