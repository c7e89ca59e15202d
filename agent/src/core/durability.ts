import type { Applied, Dot, OriginId, VersionVector } from '@lockstep/shared';

/**
 * Queries about what a member holds durably. The ranges of an `Applied` are ascending; they may touch or overlap the contiguous part, which
 * changes nothing.
 */

/** True when the member holds the operation `dot` durably. */
export function holds(applied: Applied, dot: Dot): boolean {
  if (dot.seq <= (applied.vector[dot.origin] ?? 0)) return true;
  return applied.ranges[dot.origin]?.some(([from, to]) => from <= dot.seq && dot.seq <= to) ?? false;
}

/** True when the member holds every operation up to `wanted` durably. */
export function holdsAll(applied: Applied, wanted: VersionVector): boolean {
  for (const [origin, upTo] of entriesOf(wanted)) {
    if (firstMissing(applied, origin, upTo) !== undefined) return false;
  }
  return true;
}

/** The number of operations up to `known` that the member does not hold: its lag behind a member that knows that much. */
export function countBehind(known: VersionVector, applied: Applied): number {
  let count = 0;
  for (const [origin, upTo] of entriesOf(known)) {
    let next = (applied.vector[origin] ?? 0) + 1;
    for (const [from, to] of applied.ranges[origin] ?? []) {
      if (from > upTo) break;
      count += Math.max(0, from - next);
      next = Math.max(next, to + 1);
    }
    count += Math.max(0, upTo + 1 - next);
  }
  return count;
}

/** The operations that keep the member from holding all up to `wanted`: of each origin, the first one that it lacks. */
export function blockingOrigins(applied: Applied, wanted: VersionVector): readonly Dot[] {
  const blocking: Dot[] = [];
  for (const [origin, upTo] of entriesOf(wanted)) {
    const seq = firstMissing(applied, origin, upTo);
    if (seq !== undefined) blocking.push({ origin, seq });
  }
  return blocking;
}

function firstMissing(applied: Applied, origin: OriginId, upTo: number): number | undefined {
  let next = (applied.vector[origin] ?? 0) + 1;
  for (const [from, to] of applied.ranges[origin] ?? []) {
    if (from > next) break;
    next = Math.max(next, to + 1);
  }
  return next <= upTo ? next : undefined;
}

function entriesOf(vector: VersionVector): [OriginId, number][] {
  return Object.entries(vector) as [OriginId, number][];
}
