import type { Resync, Transfer } from '@lockstep/shared/api';
import { formatBytes, formatCount, formatDuration, formatItems } from '@lockstep/shared/present';

/** `64 MB of 200 MB`. */
export function progressText({ done, size }: Pick<Transfer, 'done' | 'size'>): string {
  return `${formatBytes(done)} of ${formatBytes(size)}`;
}

/** `38 MB/s`; a dash where nothing moves. */
export function rateText(bytesPerSecond: number): string {
  return bytesPerSecond < 1 ? '–' : `${formatBytes(bytesPerSecond)}/s`;
}

/** `4 s left`; undefined where that cannot be known. */
export function timeLeftText(secondsLeft: number | null): string | undefined {
  if (secondsLeft === null) return undefined;
  return secondsLeft < 1 ? 'a moment left' : `${formatDuration(secondsLeft)} left`;
}

/** How far a member is that catches up: which share of which step, and the step in words. */
export interface ResyncStep {
  readonly value: number;
  readonly max: number;
  readonly text: string;
}

/**
 * First the operations come, then the entries they speak of are put on its disk: of those `entries` is how many the
 * member that answers has.
 */
export function resyncStep(resync: Resync, entries: number): ResyncStep {
  const { sourceName, done, total, pending } = resync;
  if (sourceName !== null && done < total) {
    const text = `${formatCount(done)} of ${formatItems(total, 'operation')} from ${sourceName}`;
    return { value: done, max: total, text };
  }
  const max = Math.max(1, entries, pending);
  if (pending === 0) return { value: max, max, text: 'has everything; it compares its folder' };
  const from = sourceName === null ? '' : `; the operations came from ${sourceName}`;
  return { value: max - pending, max, text: `${formatItems(pending, 'path')} still to be put on its disk${from}` };
}
