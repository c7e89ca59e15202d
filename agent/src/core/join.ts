import { type Dot, dotKey, entryType, type Operation, type VersionVector } from '@lockstep/shared';
import { isSameContent } from './merge.ts';
import { covers } from './version.ts';

/** Returns the operation of a dot, if the journal has it. */
export type FindOperation = (dot: Dot) => Operation | undefined;

/** The part of the journal that joins refer to. */
export interface JoinLog {
  readonly log: { operation(dot: Dot): Operation | undefined };
  readonly seals: { all(): VersionVector };
}

/** True if `operation` is a join, which a resolver made. A change of mode or time keeps its parent's content too, but a user made it. */
export function isJoin({ kind, keeps }: Operation): boolean {
  return keeps !== undefined && kind !== 'attr';
}

/** The operation with which a user made the entry of `head`. A join repeats a head, which may itself be a join. */
export function originalOf(head: Operation, find: FindOperation): Operation {
  return follow(head, find, isJoin);
}

/** The operation with which a user wrote the content of `head`. A change of mode or time writes none. */
export function writerOf(head: Operation, find: FindOperation): Operation {
  return follow(head, find, ({ keeps }) => keeps !== undefined);
}

function follow(head: Operation, find: FindOperation, goesOn: (operation: Operation) => boolean): Operation {
  // Only forged operations can keep each other.
  const passed = new Set<Operation>();
  let operation = head;
  while (goesOn(operation) && !passed.has(operation)) {
    passed.add(operation);
    const [first] = operation.keeps ?? [];
    const kept = first && find(first);
    if (kept !== undefined && isRepeated(kept, operation)) operation = kept;
  }
  return operation;
}

/** True if the entry of `kept` is the one that `join` repeats. If the log forked, the number may have another operation here. */
function isRepeated(kept: Operation, join: Operation): boolean {
  return kept.path === join.path && isSameContent(kept, join);
}

/**
 * True if `entry` was resurrected: it is a join, and `siblings` supersede all that it keeps. Their authors had seen the entry and deleted
 * it, overwrote it or made it a conflict copy, and the resolver did not know that.
 *
 * If the log of an origin forked, two operations have the same number. A sibling that covers the number may not have seen the kept one. It
 * has not if its stamp is earlier: the branch that it saw may be in no log any more, so that the fork is never found.
 */
export function isResurrected(entry: Operation, siblings: readonly Operation[], { log, seals }: JoinLog): boolean {
  if (!isJoin(entry)) return false;
  const find: FindOperation = (dot) => log.operation(dot);
  const sealed = seals.all();
  const isClear = (dot: Dot): boolean => {
    const kept = find(dot);
    return dot.seq <= (sealed[dot.origin] ?? dot.seq) && (kept === undefined || isRepeated(kept, entry));
  };
  const originals = originalsOf(entry, find);
  const isSuperseded = (dot: Dot): boolean => {
    const stamp = find(dot)?.hlc ?? 0;
    return siblings.some(({ version, hlc }) => covers(version, dot) && hlc >= stamp);
  };
  return originals.length > 0 && originals.every((dot) => isClear(dot) && isSuperseded(dot));
}

/** The users' operations that a join keeps, directly or through other joins. */
function originalsOf(join: Operation, find: FindOperation): readonly Dot[] {
  const originals: Dot[] = [];
  const open = [...(join.keeps ?? [])];
  const passed = new Set<string>();
  for (let dot = open.pop(); dot !== undefined; dot = open.pop()) {
    const key = dotKey(dot);
    if (passed.has(key)) continue;
    passed.add(key);
    const operation = find(dot);
    if (operation !== undefined && isJoin(operation) && isRepeated(operation, join)) {
      open.push(...(operation.keeps ?? []));
    } else originals.push(dot);
  }
  return originals;
}

/** The files and links among `heads` that were resurrected: other content among the heads has replaced them. */
export function resurrectedAmong(heads: readonly Operation[], log: JoinLog): readonly Operation[] {
  const entries = heads.filter((head) => entryType(head) === 'file' || entryType(head) === 'symlink');
  const resurrected = entries.filter((entry) => {
    const others = entries.filter((other) => !isSameContent(other, entry));
    return isResurrected(entry, others, log);
  });
  // If each replaced another, the order of siblings decides, as in any conflict.
  return resurrected.length < entries.length ? resurrected : [];
}
