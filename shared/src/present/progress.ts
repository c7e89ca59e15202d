import type { Progress, Transfers, WorkReport } from '../api.ts';
import { formatBytes, formatCount, formatDuration, formatItems } from './units.ts';

/** The longest time that is named. */
const secondsShownMax = 30 * 86_400;

const workVerbs: Readonly<Record<WorkReport['what'], string>> = { verify: 'verifying', replay: 'rebuilding' };

/** `38 MB/s`; a dash below 1 B/s. */
export function rateText(bytesPerSecond: number): string {
  return bytesPerSecond < 1 ? '–' : `${formatBytes(bytesPerSecond)}/s`;
}

/** `4 s left`; undefined if the time is not known. */
export function timeLeftText(secondsLeft: number | null): string | undefined {
  if (secondsLeft === null) return undefined;
  // The rate is that of a beginning or of a stop: it says no more than that.
  if (secondsLeft > secondsShownMax) return 'more than 30 days left';
  return secondsLeft < 1 ? 'a moment left' : `${formatDuration(secondsLeft)} left`;
}

/** `145 MB of 436 MB`; `all but 7 B of 436 MB` if the two would read the same. */
export function shareText({ there, total }: Pick<Progress, 'there' | 'total'>): string {
  const [part, whole] = [formatBytes(there), formatBytes(total)];
  return there < total && part === whole ? `all but ${formatBytes(total - there)} of ${whole}` : `${part} of ${whole}`;
}

/** `3.2 MB/s, 1 min left`, or `stalled`; undefined while the rate is not known. */
export function paceText({
  bytesPerSecond,
  secondsLeft,
}: Pick<Progress, 'bytesPerSecond' | 'secondsLeft'>): string | undefined {
  if (bytesPerSecond === null) return undefined;
  if (bytesPerSecond < 1) return 'stalled';
  return [rateText(bytesPerSecond), timeLeftText(secondsLeft)].filter((part) => part !== undefined).join(', ');
}

/** The whole progress: `145 MB of 436 MB, 3.2 MB/s, 1 min left`. */
export function progressText(progress: Progress): string {
  return [shareText(progress), paceText(progress)].filter((part) => part !== undefined).join(', ');
}

/** The share that is there, in whole percent: 100 only when nothing is missing. */
export function percentOf({ there, total }: Pick<Progress, 'there' | 'total'>): number {
  return Math.floor((100 * there) / Math.max(1, total));
}

/** A work under way: `verifying: 1,204 of 5,499 paths`. */
export function workText({ what, done, total }: WorkReport): string {
  return `${workVerbs[what]}: ${formatCount(done)} of ${formatItems(total, 'path')}`;
}

/** When a file that keeps changing is read: `It is read again in about 4 s: a new version may follow.` */
export function changingSentence({ readInS }: Pick<Transfers['changing'][number], 'readInS'>): string {
  if (readInS === null) return 'It is being read.';
  const when = readInS < 1 ? 'once it is still for a moment' : `in about ${formatDuration(readInS)}`;
  return `It is read again ${when}: a new version may follow.`;
}
