import type { Operation } from '@lockstep/shared';
import { entryType, isLive } from '@lockstep/shared';
import { supersedes } from './version.ts';

/** The heads of one path after `operation` arrived. The outcome depends neither on the order of arrival nor on repetition. */
export function mergeHead(heads: readonly Operation[], operation: Operation): readonly Operation[] {
  for (const head of heads) {
    const known = head.origin === operation.origin && head.seq === operation.seq;
    if (known || supersedes(head, operation)) return heads;
  }
  return inOrder([...heads.filter((head) => !supersedes(operation, head)), operation]);
}

const itself = (head: Operation): Operation => head;

/** The heads with the visible one first: a pure function of the set. `originalOf` returns the operation by which a head is ordered. */
export function inOrder(heads: readonly Operation[], originalOf = itself): readonly Operation[] {
  if (heads.length < 2) return heads;
  return heads.slice().sort((a, b) => compareHeads(originalOf(a), originalOf(b)) || compareHeads(a, b));
}

/**
 * Orders siblings; the first keeps the name. A live entry comes before a delete, a directory before anything else. Then the later clock
 * stamp decides, then origin and number, so that all members choose alike.
 */
export function compareHeads(a: Operation, b: Operation): number {
  return (
    Number(isLive(b)) - Number(isLive(a)) ||
    Number(entryType(b) === 'directory') - Number(entryType(a) === 'directory') ||
    b.hlc - a.hlc ||
    (a.origin < b.origin ? 1 : a.origin > b.origin ? -1 : b.seq - a.seq)
  );
}

/** True when two entries are of one kind and have the same content or target. */
export function isSameContent(a: Operation, b: Operation): boolean {
  return entryType(a) === entryType(b) && a.content === b.content && a.target === b.target;
}

/**
 * True if `a` was made after `b`, by its stamp. Stamps of one origin may not be in the order of its numbers: an operation whose parent has
 * a stamp far ahead gets a later one. Then the number decides against it. By stamps alone no two operations are after each other.
 */
export function wasMadeAfter(a: Operation, b: Operation): boolean {
  return a.hlc > b.hlc && (a.origin !== b.origin || a.seq > b.seq);
}

/**
 * The heads whose content would be lost if only the visible one stayed. Not among them: deletes and directories; heads with the same
 * content and kind as the visible head or an earlier loser; and content that a sibling made later replaced.
 *
 * `heldUp`: a live entry lies below the path, so a directory must be there whatever the heads say. Then no head of another kind can keep
 * the name.
 */
export function losers(heads: readonly Operation[], heldUp: boolean, originalOf = itself): readonly Operation[] {
  const ordered = inOrder(heads, originalOf);
  const [first] = ordered;
  if (first === undefined) return [];
  const visibleStays = !heldUp || entryType(first) === 'directory';
  const kept: Operation[] = visibleStays ? [first] : [];
  const lost: Operation[] = [];
  for (const head of visibleStays ? ordered.slice(1) : ordered) {
    const type = entryType(head);
    if (type !== 'file' && type !== 'symlink') continue;
    if (kept.some((other) => isSameContent(other, head))) continue;
    const replacedLater = ordered.some(
      (other) => head.content !== undefined && other.replaced === head.content && wasMadeAfter(other, head),
    );
    if (replacedLater) continue;
    kept.push(head);
    lost.push(head);
  }
  return lost;
}
