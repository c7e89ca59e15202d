import type { ContentId } from '@lockstep/shared';
import type { WorkerPool } from './worker-pool.ts';

/** Versions asked of a worker at once: bounds the message, however much history there is. */
const pageVersionsMax = 4_096;

/** Removes the oldest versions of history above `bytesMax`, except those that are `needed`. */
export async function trimHistory(
  workers: WorkerPool,
  bytesMax: number,
  needed: (content: ContentId) => boolean,
): Promise<void> {
  let stays = 0;
  for (;;) {
    const { bytes, oldest } = await workers.run('listHistory', { skip: stays, limit: pageVersionsMax }, 'second');
    let excess = bytes - bytesMax;
    const goes: ContentId[] = [];
    for (const version of oldest) {
      if (excess <= 0) break;
      if (needed(version.content)) stays += 1;
      else {
        goes.push(version.content);
        excess -= version.bytes;
      }
    }
    if (goes.length > 0) await workers.run('forgetHistory', goes, 'second');
    if (excess <= 0 || oldest.length < pageVersionsMax) return;
  }
}
