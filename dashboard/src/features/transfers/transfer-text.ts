import type { Resync, Transfer } from '@lockstep/shared/api';
import { formatBytes, formatCount, formatDuration, formatItems } from '@lockstep/shared/present';

/** `64 MB of 200 MB`. */
export function progressText({ done, size }: Pick<Transfer, 'done' | 'size'>): string {
  return `${formatBytes(done)} of ${formatBytes(size)}`;
}

/** `38 MB/s`; a dash below 1 B/s. */
export function rateText(bytesPerSecond: number): string {
  return bytesPerSecond < 1 ? '–' : `${formatBytes(bytesPerSecond)}/s`;
}

/** `4 s left`; undefined if the time is not known. */
export function timeLeftText(secondsLeft: number | null): string | undefined {
  if (secondsLeft === null) return undefined;
  return secondsLeft < 1 ? 'a moment left' : `${formatDuration(secondsLeft)} left`;
}

/** The progress of a member that is catching up: its share of the current step, and the step in words. */
export interface ResyncStep {
  readonly value: number;
  readonly max: number;
  readonly text: string;
}

/**
 * The current step of a resync. First the operations arrive, then the member applies them to its disk. `entries`: the number of entries
 * on the serving member, which the second step is measured by.
 */
export function resyncStep(resync: Resync, entries: number): ResyncStep {
  const { sourceName, done, total, pending } = resync;
  if (sourceName !== null && done < total) {
    const text = `${formatCount(done)} of ${formatItems(total, 'operation')} from ${sourceName}`;
    return { value: done, max: total, text };
  }
  const max = Math.max(1, entries, pending);
  if (pending === 0) return { value: max, max, text: 'has everything and compares its folder' };
  const from = sourceName === null ? '' : `; the operations came from ${sourceName}`;
  return { value: max - pending, max, text: `${formatItems(pending, 'path')} still to be written to its disk${from}` };
}
