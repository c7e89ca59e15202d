import type { Resync } from '@lockstep/shared/api';
import { formatCount, formatItems, progressText } from '@lockstep/shared/present';

/** The progress of a member that is catching up: its share of the current step, and the step in words. */
export interface ResyncStep {
  readonly value: number;
  readonly max: number;
  readonly text: string;
}

/**
 * How far a resync is: in bytes while bytes are missing. Otherwise the operations arrive, then the member applies them to its disk.
 * `entries`: the number of entries on the serving member, which the last step is measured by.
 */
export function resyncStep(resync: Resync, entries: number): ResyncStep {
  const { sourceName, done, total, pending, progress } = resync;
  if (progress !== null) {
    const from = sourceName === null ? '' : `; the operations come from ${sourceName}`;
    return { value: progress.there, max: progress.total, text: progressText(progress) + from };
  }
  if (sourceName !== null && done < total) {
    const text = `${formatCount(done)} of ${formatItems(total, 'operation')} from ${sourceName}`;
    return { value: done, max: total, text };
  }
  const max = Math.max(1, entries, pending);
  if (pending === 0) return { value: max, max, text: 'has everything and compares its folder' };
  const from = sourceName === null ? '' : `; the operations came from ${sourceName}`;
  return { value: max - pending, max, text: `${formatItems(pending, 'path')} still to be written to its disk${from}` };
}
