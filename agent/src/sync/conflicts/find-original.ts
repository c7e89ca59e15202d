import { nameBytesMax, nameOf } from '@lockstep/shared';
import { conflictPath, loserOf, originalPath } from '../../core/conflict-name.ts';
import type { Journal } from '../ports/journal.ts';

/** Shortest length of a shortened name: names are shortened by whole characters of at most four bytes. */
const shortenedBytesMin = nameBytesMax - 3;

/** Limits of names searched, and of operations of each: more names that share their first two hundred bytes are very rare. */
const namesMax = 100;
const operationsMax = 50;

const encoder = new TextEncoder();

/**
 * The path that `copy` is a conflict copy of. If the name of the copy had to be shortened, that is an existing file with a longer name. One
 * of its operations has the stamp of the copy.
 */
export function findOriginal(journal: Journal, copy: string): string {
  const plain = originalPath(copy);
  if (encoder.encode(nameOf(copy)).length < shortenedBytesMin) return plain;
  const stem = copy.slice(0, copy.lastIndexOf('.conflict-'));
  const found = journal.tree.liveWithPrefix(stem, namesMax).find(({ path }) => {
    const log = journal.log.rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: operationsMax });
    return log.some(({ operation }) => conflictPath(path, operation.hlc, loserOf(copy)) === copy);
  });
  return found?.path ?? plain;
}
