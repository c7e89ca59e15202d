import type { Dot, Operation } from '@lockstep/shared';

/**
 * The canonical text of an operation (docs/PROTOCOL.md, section 8). It is a JSON array without white space in a fixed order of fields; a
 * field without a value is null. All members must compute the same text, so a change of this function is a change of the wire protocol.
 * `keeps` is an element only where it has a value: operations journaled before that field existed keep their text. Block hashes are left
 * out, because the content id stands for them.
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
