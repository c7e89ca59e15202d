import type { LatencyHistory } from '@lockstep/shared/api';
import { formatDuration, formatRoundTrip } from '@lockstep/shared/present';

/** One line over time, in the form that the chart takes. */
export interface Series {
  /** Milliseconds since the epoch, oldest first. */
  readonly at: readonly number[];
  /** null: there was no session to measure. */
  readonly values: readonly (number | null)[];
}

/** The kept samples and, if there is one, the current value, so that the line continues between two samples. */
export function latencySeries(
  history: Pick<LatencyHistory, 'everyMs' | 'samples'>,
  now: { readonly at: number; readonly rttMs: number | undefined } | undefined,
): Series {
  const at: number[] = [];
  const values: (number | null)[] = [];
  const add = (moment: number, rttMs: number | null): void => {
    const last = at.at(-1);
    if (last !== undefined && moment <= last) return;
    // The agent was stopped or the machine slept: there are no values for that time, and no line is drawn across it.
    if (last !== undefined && moment - last > 2.5 * history.everyMs) {
      at.push(last + history.everyMs);
      values.push(null);
    }
    at.push(moment);
    values.push(rttMs);
  };
  for (const sample of history.samples) add(sample.at, sample.rttMs);
  if (now !== undefined) add(now.at, now.rttMs ?? null);
  return { at, values };
}

export interface Summary {
  readonly least: string;
  readonly median: string;
  readonly most: string;
  /** The total time without a session, as a sentence; undefined if there is none. */
  readonly gaps: string | undefined;
}

/** The line in numbers; undefined if it has no value at all. */
export function summarise({ at, values }: Series): Summary | undefined {
  const known = values.filter((value) => value !== null).sort((a, b) => a - b);
  const [least] = known;
  const most = known.at(-1);
  if (least === undefined || most === undefined) return undefined;
  const gapMs = gapsOf({ at, values }).reduce((sum, [from, to]) => sum + to - from, 0);
  return {
    least: formatRoundTrip(least),
    median: formatRoundTrip(known[Math.floor((known.length - 1) / 2)] ?? least),
    most: formatRoundTrip(most),
    gaps: gapMs === 0 ? undefined : `There was no session for ${formatDuration(gapMs / 1_000)} of this time.`,
  };
}

/** The times without a value: from the first moment without one to the next with one, or to the end. */
export function gapsOf({ at, values }: Series): readonly (readonly [from: number, to: number])[] {
  const gaps: [number, number][] = [];
  let from: number | undefined;
  for (const [index, moment] of at.entries()) {
    if (values[index] === null) from ??= moment;
    else if (from !== undefined) {
      gaps.push([from, moment]);
      from = undefined;
    }
  }
  const last = at.at(-1);
  if (from !== undefined && last !== undefined) gaps.push([from, last]);
  return gaps;
}
