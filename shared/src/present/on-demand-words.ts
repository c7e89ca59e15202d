import type { LackingCopies, ShortRule } from '../api/copies.ts';
import type { PathReport } from '../api/path-report.ts';
import type { Status } from '../api/status.ts';
import { formatBytes, formatCount, formatItems, formatNames } from './units.ts';

/** A phrase on the copies that a member lacks, and on their progress; without the name of the member. */
export function lackingText({ files, bytes, isFull, isUnavailable }: LackingCopies): string {
  const what = `${formatItems(files, 'copy', 'copies')} with ${formatBytes(bytes)}`;
  if (isFull) return `has no room for ${what}: raise its cache_size or free space on its disk, or add a member`;
  return isUnavailable ? `waits for ${what}: no member that answers has them` : `fetches ${what}`;
}

/** A sentence on the copies that a rule asks for, and on the number of members for them. */
export function shortRuleText({ pattern, wanted, able }: ShortRule): string {
  const what = pattern === '' ? '' : ` of ${pattern}`;
  const members = able === 0 ? 'no member' : `only ${formatItems(able, 'member')}`;
  return `${formatItems(wanted, 'copy', 'copies')}${what} ${wanted === 1 ? 'is' : 'are'} wanted, and ${members} can keep one now`;
}

/** How many copies of a file are wanted, and which members on demand are to keep one. */
export function copiesSentence({ wanted, placedOn, unplaced }: NonNullable<PathReport['copies']>): string {
  const all = `${formatItems(wanted, 'copy is', 'copies are')} wanted`;
  const kept =
    placedOn.length === 0
      ? ''
      : `; ${formatNames(placedOn)} ${placedOn.length === 1 ? 'is' : 'are'} to keep one${placedOn.length === 1 ? '' : ' each'}`;
  const short = unplaced === 0 ? '' : `; for ${unplaced} there is no member now`;
  return `${all}${kept}${short}.`;
}

/** The files that were fetched before they were read, and the share that was read since. */
export function cachePrefetches({
  prefetchedFiles,
  prefetchedBytes,
  prefetchHits,
}: NonNullable<Status['cache']>): string {
  const read = Math.round((100 * prefetchHits) / Math.max(1, prefetchedFiles));
  return `${formatItems(prefetchedFiles, 'file')} with ${formatBytes(prefetchedBytes)}, ${read} % of them read since`;
}

/** How often the contents on a member on demand sufficed, since its agent started. */
export function cacheReads({ hits, misses, fetchedBytes, droppedFiles }: NonNullable<Status['cache']>): string {
  const reads = hits + misses;
  const here =
    reads === 0 ? 'none yet' : `${formatCount(reads)}, ${Math.round((100 * hits) / reads)} % of them from this disk`;
  return `${here}; ${formatBytes(fetchedBytes)} fetched, ${formatCount(droppedFiles)} dropped`;
}

/** `1,204 files, 436 MB`: what is on the disk of the answering member. One on demand says how many files there are in all. */
export function folderText({ files, bytes, cache }: Status): string {
  if (cache === undefined) return `${formatItems(files, 'file')}, ${formatBytes(bytes)}`;
  return `${formatCount(files)} of ${formatItems(files + cache.remoteFiles, 'file')} here, ${formatBytes(bytes)}`;
}
