import { entryType, isLive, type Operation, type VersionVector } from '@lockstep/shared';
import { countBeyond, supersedes } from './version.ts';

/**
 * True when the only reason that a live entry stands beside deletes is a join: the user deleted one of some siblings while a steward
 * joined them, which put the deleted entry anew. Nobody edited, so the delete holds, though a live entry goes before a delete.
 *
 * `deletes` are siblings of `visible`; `earlier` is all that is known to have been at the path, `known` what this member knows.
 */
export function isUndoneByJoin(
  visible: Operation,
  deletes: readonly Operation[],
  earlier: readonly Operation[],
  known: VersionVector,
): boolean {
  if (!mayBeJoin(visible)) return false;
  if (countBeyond(visible.version.vector, known) > 0) return false;
  const isDeleted = (operation: Operation): boolean => deletes.some((gone) => supersedes(gone, operation));
  const joined = earlier.filter((operation) => supersedes(visible, operation));
  const anew = joined.filter((operation) => isLive(operation) && isDeleted(operation) && isPutAnew(visible, operation));
  if (anew.length === 0) return false;
  const followsAnew = (operation: Operation): boolean => anew.some((before) => supersedes(operation, before));
  // What whoever deleted did not know: the same content by somebody's own hand, or an entry that was made again after a delete.
  return !joined.some((operation) => {
    // Known to the others or not: what was gone and is there again was put there by somebody.
    if (!isLive(operation)) return followsAnew(operation);
    if (isDeleted(operation)) return false;
    return isSameContent(visible, operation) && !(mayBeJoin(operation) && followsAnew(operation));
  });
}

/** A user's operation says what it replaced, or where it came from; a directory's change of mode is an `attr`. */
function mayBeJoin({ kind, replaced, from }: Operation): boolean {
  return kind !== 'delete' && kind !== 'attr' && replaced === undefined && from === undefined;
}

function isSameContent(a: Operation, b: Operation): boolean {
  return entryType(a) === entryType(b) && a.content === b.content && a.target === b.target;
}

/** A join repeats the entry to the last detail. */
function isPutAnew(join: Operation, before: Operation): boolean {
  return isSameContent(join, before) && join.mode === before.mode && join.mtimeUs === before.mtimeUs;
}
