import type { Dot, MemberRecord, Operation } from '@lockstep/shared';
import { hexadecimal } from './marks.ts';

/**
 * The canonical text of an operation (docs/PROTOCOL.md, section 8). It is a JSON array without white space in a fixed order of fields; a
 * field without a value is null. All members must compute the same text, so a change of this function is a change of the wire protocol.
 * `keeps`, `marks`, and the last four of a member's record are elements only where they, or one after them, have a value: operations journaled
 * before these fields existed keep their text. Block hashes are left out, because the content id stands for them.
 */
export function canonicalText(operation: Operation): string {
  const { origin, seq, hlc, kind, path, version, member, keeps, marks } = operation;
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
    member === undefined ? null : memberText(member),
    ...(keeps === undefined ? [] : [keeps.map(toPair)]),
    ...(marks === undefined ? [] : [hexadecimal(marks)]),
  ]);
}

/** True if both records say the same, in whatever order their fields were written. */
export function isSameRecord(a: MemberRecord, b: MemberRecord): boolean {
  return JSON.stringify(memberText(a)) === JSON.stringify(memberText(b));
}

function memberText(member: MemberRecord): readonly unknown[] {
  const { id, name, addresses, membership, mayBeAway, onDemand, room } = member;
  const copies = member.copies?.map((rule) => [rule.pattern, rule.copies, rule.at]);
  const more = [mayBeAway, onDemand, room, copies];
  const last = more.findLastIndex((value) => value !== undefined);
  return [id, name, addresses, membership, ...more.slice(0, last + 1).map((value) => value ?? null)];
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
