import { isLive, type Operation, parentOf } from '@lockstep/shared';
import { conflictPath, copyPrefix, isConflictPath, originalPath } from '../../core/conflict-name.ts';
import { type Fingerprint, isDirectoryMode, isSameFingerprint } from '../../core/entry.ts';
import { isSameContent } from '../../core/merge.ts';
import type { DiskEntry } from '../ports/journal.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';

const copiesLookedAtMax = 64;

/** The heads at names of conflict copies with the same stem as `copy`. */
export function copiesLike({ journal }: Context, copy: string): readonly Operation[] {
  const prefix = copyPrefix(copy);
  return journal.heads
    .under(parentOf(copy), prefix, copiesLookedAtMax)
    .filter(({ path }) => path.startsWith(prefix) && isConflictPath(path));
}

/**
 * Whether one of these conflict copies is whole. They are read, because a user may have changed one since it was journaled. A copy that
 * is not on this disk yet counts as whole: it is on its way.
 */
export async function isAnyWhole({ folder, journal }: Context, copies: readonly Operation[]): Promise<boolean> {
  const rows = copies.map(({ path }) => journal.disk.at(path));
  const isHere = (copy: Operation, index: number): boolean => {
    const row = rows[index];
    const shown = row?.fingerprint && journal.log.operation(row.dot);
    return shown !== undefined && isSameContent(shown, copy);
  };
  if (!copies.every(isHere)) return true;
  const seen = await folder.observe(copies.map(({ path }) => ({ path })));
  return copies.some((copy, index) => isWhole(copy, rows[index], seen[index]));
}

function isWhole(copy: Operation, row: DiskEntry | undefined, seen: Observation | undefined): boolean {
  switch (seen?.state) {
    case 'file':
      return seen.content === copy.content;
    case 'symlink':
      return seen.target === copy.target;
    case 'large':
      return row?.fingerprint !== undefined && isSameFingerprint(row.fingerprint, seen.fingerprint);
    default:
      return false;
  }
}

/** Whether the entry has the content of a file, or the target of a link, that lost. */
export function isCopyOf(copy: Operation, lost: Pick<Operation, 'content' | 'target'>): boolean {
  return isLive(copy) && copy.content === lost.content && copy.target === lost.target;
}

/** A losing version whose file or link a user put back, and its conflict copies that are gone from this disk. */
interface PutBack {
  readonly removedCopies: readonly DiskEntry[];
}

/**
 * Set if a losing file or link is the only entry with its content. It is about to be replaced, a user has moved, touched or written it
 * since, and no conflict copy of it is whole.
 */
export async function findPutBack(
  context: Context,
  fingerprint: Fingerprint,
  row: DiskEntry,
  lost: Operation,
): Promise<PutBack | undefined> {
  if (isDirectoryMode(fingerprint.mode)) return undefined;
  if (row.damaged || !row.fingerprint || isSameFingerprint(row.fingerprint, fingerprint)) return undefined;
  const { path } = row;
  const copies = copiesLike(context, conflictPath(path, lost.hlc, ''))
    .filter((copy) => originalPath(copy.path) === path)
    .filter((copy) => context.journal.log.everHad(copy.path, lost));
  if (copies.length === 0) return undefined;
  const alike = copies.filter((copy) => isCopyOf(copy, lost));
  if (alike.length === 0) return { removedCopies: [] };
  return (await isAnyWhole(context, alike)) ? undefined : { removedCopies: await removedOf(context, alike) };
}

/** The rows of those copies that are gone from this disk. */
async function removedOf(
  { folder, journal, ignored }: Context,
  copies: readonly Operation[],
): Promise<readonly DiskEntry[]> {
  const shown = copies
    .filter(({ path }) => !ignored.ignores(path, false))
    .flatMap(({ path }) => journal.disk.at(path) ?? []);
  const seen = await folder.observe(shown.map(({ path, fingerprint }) => ({ path, expected: fingerprint })));
  return shown.filter((_, index) => seen[index]?.state === 'absent');
}
