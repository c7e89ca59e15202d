import type { Status } from '../api/status.ts';
import { formatBytes, formatCount, formatItems } from './units.ts';

/** What was fetched before it was read, and how much of it was read then. */
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
