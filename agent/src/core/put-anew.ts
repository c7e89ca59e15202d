import { entryType, isLive, type Operation, type VersionVector } from '@lockstep/shared';
import { inOrder, isSameContent } from './merge.ts';
import { countBeyond, supersedes } from './version.ts';

/**
 * True when the only reason that a live entry stands beside these siblings is a join: whoever made one of them had seen the entry, and
 * deleted it, overwrote it or made it a conflict copy, while a resolver elsewhere joined it with others, which put it anew. Nobody wrote
 * it after that, so what was done to it holds, whatever the order of siblings says.
 *
 * `earlier` is all that is known to have been at the path, `known` what this member knows.
 */
export function isOnlyPutAnew(
  entry: Operation,
  siblings: readonly Operation[],
  earlier: readonly Operation[],
  known: VersionVector,
): boolean {
  if (countBeyond(entry.version.vector, known) > 0 || repeatedBy(entry, earlier) === undefined) return false;
  const wasSeen = (operation: Operation): boolean => siblings.some((sibling) => supersedes(sibling, operation));
  const joined = earlier.filter((operation) => supersedes(entry, operation));
  const anew = joined.filter((operation) => isLive(operation) && wasSeen(operation) && isPutAnew(entry, operation));
  if (anew.length === 0) return false;
  const followsAnew = (operation: Operation): boolean => anew.some((before) => supersedes(operation, before));
  // What the makers of the siblings did not know: the same content by somebody's own hand, or an entry that was made again after a delete.
  return !joined.some((operation) => {
    // Known to the others or not: what was gone and is there again was put there by somebody.
    if (!isLive(operation)) return followsAnew(operation);
    if (wasSeen(operation)) return false;
    return isSameContent(entry, operation) && !(followsAnew(operation) && repeatedBy(operation, earlier) !== undefined);
  });
}

/**
 * The heads whose content has lost already, or was overwritten by who had seen it, and that stand only because somebody who did not know
 * that joined what they knew.
 */
export function onlyPutAnew(
  heads: readonly Operation[],
  earlier: readonly Operation[],
  known: VersionVector,
): readonly Operation[] {
  const entries = heads.filter((head) => entryType(head) === 'file' || entryType(head) === 'symlink');
  const anew = entries.filter((entry) => {
    const others = entries.filter((other) => !isSameContent(other, entry));
    return isOnlyPutAnew(entry, others, earlier, known);
  });
  // Where each put anew what another had seen, the order of siblings decides, as between any.
  return anew.length < entries.length ? anew : [];
}

/**
 * The operation with which somebody made what `head` shows. A join repeats a head, which may be a join in its turn: siblings that were
 * joined in different places are told apart, ordered and named by who wrote them, not by who joined them.
 */
export function firstOf(head: Operation, earlier: readonly Operation[]): Operation {
  let first = head;
  for (let before = repeatedBy(first, earlier); before !== undefined; before = repeatedBy(first, earlier))
    first = before;
  return first;
}

/** A user's operation says what it replaced, or where it came from; a directory's change of mode is an `attr`. */
export function mayBeJoin({ kind, replaced, from }: Operation): boolean {
  return kind !== 'delete' && kind !== 'attr' && replaced === undefined && from === undefined;
}

/** The head that a join put anew; undefined when the operation is none, such as a user's that brings back what had lost. */
function repeatedBy(operation: Operation, earlier: readonly Operation[]): Operation | undefined {
  if (!mayBeJoin(operation)) return undefined;
  const ended = earlier.filter((before) => supersedes(operation, before));
  const isHead = (before: Operation): boolean => !ended.some((other) => supersedes(other, before));
  const [first] = inOrder(ended.filter((before) => isPutAnew(operation, before) && isHead(before)));
  return first;
}

/** A join repeats the entry to the last detail. */
function isPutAnew(join: Operation, before: Operation): boolean {
  return isSameContent(join, before) && join.mode === before.mode && join.mtimeUs === before.mtimeUs;
}
