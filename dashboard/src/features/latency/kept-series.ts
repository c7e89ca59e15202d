import type { LatencySpan } from '@lockstep/shared/api';
import { formatDuration, formatRoundTrip } from '@lockstep/shared/present';
import { gapsOf, type Series } from './latency-series.ts';

/** The points of a longer time, as the chart takes them. */
export interface KeptSeries extends Series {
  readonly peaks: readonly (number | null)[];
  /** The times without a session. */
  readonly gaps: ReturnType<typeof gapsOf>;
  readonly summary: { readonly mean: string; readonly least: string; readonly most: string } | undefined;
  /** The omissions of the line, as sentences; empty if it leaves out nothing. */
  readonly missing: string;
}

/**
 * A point is drawn at its middle. A time without a point is not known: the line is broken there, and it does not count as a gap without a
 * session.
 */
export function keptSeries({ from, until, everyMs, points }: LatencySpan, asked: string): KeptSeries {
  const at: number[] = [];
  const values: (number | null)[] = [];
  const peaks: (number | null)[] = [];
  const gaps: (readonly [number, number])[] = [];
  let run: Series = { at: [], values: [] };
  const endRun = (): void => {
    gaps.push(...gapsOf(run));
    run = { at: [], values: [] };
  };
  for (const [index, point] of points.entries()) {
    const before = points[index - 1];
    if (before !== undefined && point.at - before.at > everyMs) {
      at.push(before.at + everyMs);
      values.push(null);
      peaks.push(null);
      endRun();
    }
    const middle = Math.min(until, point.at + everyMs / 2);
    at.push(middle);
    values.push(point.mean);
    peaks.push(point.most);
    // A gap reaches from the begin to the end of its points.
    run = {
      at: [...run.at, point.at, Math.min(until, point.at + everyMs)],
      values: [...run.values, point.mean, point.mean],
    };
  }
  endRun();
  const measured = points.filter(({ mean }) => mean !== null);
  const gapMs = gaps.reduce((sum, [begin, end]) => sum + end - begin, 0);
  const unknownMs = until - from - points.length * everyMs;
  return {
    ...{ at, values, peaks, gaps },
    summary:
      measured.length === 0
        ? undefined
        : {
            mean: formatRoundTrip(measured.reduce((sum, { mean }) => sum + (mean ?? 0), 0) / measured.length),
            least: formatRoundTrip(Math.min(...measured.map(({ least }) => least ?? Number.POSITIVE_INFINITY))),
            most: formatRoundTrip(Math.max(...measured.map(({ most }) => most ?? 0))),
          },
    missing: [
      ...(gapMs > 0 ? [`There was no session for ${formatDuration(gapMs / 1_000)}.`] : []),
      ...(unknownMs > everyMs ? [`${formatDuration(unknownMs / 1_000)} are not known: ${asked} did not run.`] : []),
    ].join(' '),
  };
}
