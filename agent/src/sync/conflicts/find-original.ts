import { nameBytesMax, nameOf } from '@lockstep/shared';
import { conflictPath, loserOf, originalPath } from '../../core/conflict-name.ts';
import type { Journal } from '../ports/journal.ts';

/** A name is shortened by whole characters, of which the longest has four bytes. */
const shortenedBytesMin = nameBytesMax - 3;

/** Names that are looked at, and operations of each: more of them share their first two hundred bytes hardly ever. */
const namesMax = 100;
const operationsMax = 50;

const encoder = new TextEncoder();

/**
 * The path that `copy` is a conflict copy of. Where the copy's name had to be shortened, that is the file with a longer name of which
 * an operation lost just then, if it is still there.
 */
export function findOriginal(journal: Journal, copy: string): string {
  const plain = originalPath(copy);
  if (encoder.encode(nameOf(copy)).length < shortenedBytesMin) return plain;
  const stem = copy.slice(0, copy.lastIndexOf('.conflict-'));
  const found = journal.liveWithPrefix(stem, namesMax).find(({ path }) => {
    const log = journal.log({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: operationsMax });
    return log.some(({ operation }) => conflictPath(path, operation.hlc, loserOf(copy)) === copy);
  });
  return found?.path ?? plain;
}
