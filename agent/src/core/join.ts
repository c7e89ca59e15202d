import { type Dot, dotKey, entryType, type Operation } from '@lockstep/shared';
import { isSameContent } from './merge.ts';
import { covers } from './version.ts';

/** The operation of a dot, where the journal has it. */
export type FindOperation = (dot: Dot) => Operation | undefined;

/** True if a resolver made `operation`. A change of mode or time keeps its parent's content too, and is its user's own. */
function isJoin({ kind, keeps }: Operation): boolean {
  return keeps !== undefined && kind !== 'attr';
}

/** The operation with which a user made what `head` shows: a join repeats a head, which may be a join in its turn. */
export function originalOf(head: Operation, find: FindOperation): Operation {
  return follow(head, find, isJoin);
}

/** The operation with which a user wrote the content of `head`: a change of mode or time does not. */
export function writerOf(head: Operation, find: FindOperation): Operation {
  return follow(head, find, ({ keeps }) => keeps !== undefined);
}

function follow(head: Operation, find: FindOperation, goesOn: (operation: Operation) => boolean): Operation {
  // Operations that keep each other can only be forged.
  const passed = new Set<Operation>();
  let operation = head;
  while (goesOn(operation) && !passed.has(operation)) {
    passed.add(operation);
    const [first] = operation.keeps ?? [];
    operation = (first && find(first)) ?? operation;
  }
  return operation;
}

/**
 * True if `entry` was resurrected: it is a join, and `siblings` supersede all that it keeps. Whoever made them had seen the entry, and
 * deleted it, overwrote it or made it a conflict copy, while the resolver did not know that.
 */
export function isResurrected(entry: Operation, siblings: readonly Operation[], find: FindOperation): boolean {
  if (!isJoin(entry)) return false;
  const originals = originalsOf(entry, find);
  return originals.length > 0 && originals.every((dot) => siblings.some(({ version }) => covers(version, dot)));
}

/** The users' operations that a join goes back to, directly or by way of other joins. */
function originalsOf(join: Operation, find: FindOperation): readonly Dot[] {
  const originals: Dot[] = [];
  const open = [...(join.keeps ?? [])];
  const passed = new Set<string>();
  for (let dot = open.pop(); dot !== undefined; dot = open.pop()) {
    const key = dotKey(dot);
    if (passed.has(key)) continue;
    passed.add(key);
    const operation = find(dot);
    if (operation !== undefined && isJoin(operation)) open.push(...(operation.keeps ?? []));
    else originals.push(dot);
  }
  return originals;
}

/** The files and links among `heads` that other content there has replaced, and that stand only because a join did not know that. */
export function resurrectedAmong(heads: readonly Operation[], find: FindOperation): readonly Operation[] {
  const entries = heads.filter((head) => entryType(head) === 'file' || entryType(head) === 'symlink');
  const resurrected = entries.filter((entry) => {
    const others = entries.filter((other) => !isSameContent(other, entry));
    return isResurrected(entry, others, find);
  });
  // Where each replaced another, the order of siblings decides, as between any.
  return resurrected.length < entries.length ? resurrected : [];
}
