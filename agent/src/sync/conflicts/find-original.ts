import { nameBytesMax, nameOf } from '@lockstep/shared';
import { conflictPath, loserOf, lostStamp, originalPath } from '../../core/conflict-name.ts';
import type { Journal } from '../ports/journal.ts';

/** Shortest length of a shortened name: names are shortened by whole characters of at most four bytes. */
const shortenedBytesMin = nameBytesMax - 3;

/** Limit of names searched: more names that share their first two hundred bytes are very rare. */
const namesMax = 100;

const encoder = new TextEncoder();

/**
 * The path that `copy` is a conflict copy of. Its name is the pointer to the version that lost: path, stamp and member. Operations have no
 * field for it. A copy is an ordinary file, which may be moved, edited or made by hand, and `keeps` of the join names what won.
 *
 * Only if the name had to be shortened, the path is sought: an existing file with a longer name, which had an operation with that stamp.
 */
export function findOriginal({ log, tree }: Pick<Journal, 'log' | 'tree'>, copy: string): string {
  const plain = originalPath(copy);
  if (encoder.encode(nameOf(copy)).length < shortenedBytesMin) return plain;
  const stem = copy.slice(0, copy.lastIndexOf('.conflict-'));
  const stamp = lostStamp(copy);
  const found = tree
    .liveWithPrefix(stem, namesMax)
    .find(({ path }) => log.stamped(path, stamp).length > 0 && conflictPath(path, stamp, loserOf(copy)) === copy);
  return found?.path ?? plain;
}
