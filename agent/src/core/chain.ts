import type { Dot, Operation } from '@lockstep/shared';

/**
 * The canonical text of an operation: all members compute the same one, so a change of this function is a change of the wire
 * protocol (docs/PROTOCOL.md, section 8). A JSON array without white space in a fixed order of fields; null for a field that has no
 * value. `keeps` is an element only where it has one: what was journaled before there was such a field keeps its text. Block hashes are
 * left out, because the content id stands for them.
 */
export function canonicalText(operation: Operation): string {
  const { origin, seq, hlc, kind, path, version, member, keeps } = operation;
  const vector = Object.entries(version.vector).sort(byOrigin);
  const except = version.except?.map(toPair).sort(byDot);
  return JSON.stringify([
    origin,
    seq,
    hlc,
    kind,
    path,
    vector,
    except ?? [],
    operation.content ?? null,
    operation.replaced ?? null,
    operation.size ?? null,
    operation.mode ?? null,
    operation.mtimeUs ?? null,
    operation.target ?? null,
    operation.from ?? null,
    operation.group ?? null,
    operation.span ?? null,
    member === undefined ? null : [member.id, member.name, member.addresses, member.standing],
    ...(keeps === undefined ? [] : [keeps.map(toPair)]),
  ]);
}

type Pair = readonly [origin: string, seq: number];

function toPair({ origin, seq }: Dot): Pair {
  return [origin, seq];
}

function byOrigin([a]: Pair, [b]: Pair): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function byDot(a: Pair, b: Pair): number {
  return byOrigin(a, b) || a[1] - b[1];
}
