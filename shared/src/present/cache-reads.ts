import type { Status } from '../api/status.ts';
import { formatBytes, formatCount } from './units.ts';

/** How often the contents on a member on demand sufficed, since its agent started. */
export function cacheReads({ hits, misses, fetchedBytes, droppedFiles }: NonNullable<Status['cache']>): string {
  const reads = hits + misses;
  const here =
    reads === 0 ? 'none yet' : `${formatCount(reads)}, ${Math.round((100 * hits) / reads)} % of them from this disk`;
  return `${here}; ${formatBytes(fetchedBytes)} fetched, ${formatCount(droppedFiles)} dropped`;
}
