import type { Beat } from '../api/health-history.ts';
import { type MemberCondition, memberConditions } from '../member-condition.ts';
import { conditionWords } from './condition.ts';
import { formatDuration } from './units.ts';

/** How a beat is shown: the gravest condition in it counts. `unknown`: the agent that keeps the history did not run. */
export type BeatMark = 'up' | 'cut-off' | 'paused' | 'shut-down' | 'away' | 'down' | 'unknown';

/** The marks in the order of the legend, each with its words. */
export const beatMarks: readonly (readonly [mark: BeatMark, words: string])[] = [
  ['up', 'up'],
  ['cut-off', 'cut off'],
  ['paused', 'paused'],
  ['shut-down', 'shut down'],
  ['away', 'away'],
  ['down', 'down'],
  ['unknown', 'not known'],
];

const gravest = ['down', 'shut-down', 'paused', 'cut-off', 'away'] as const;

/** Shorter times are rounding. */
const secondsMin = 1;

/** How a beat is shown. */
export function markOf({ seconds }: Beat): BeatMark {
  const worst = gravest.find((condition) => (seconds[condition] ?? 0) >= secondsMin);
  if (worst !== undefined) return worst;
  return knownSeconds(seconds) >= secondsMin ? 'up' : 'unknown';
}

/** A beat in words: `up 20 min, down 10 min`, `not known`. */
export function beatText({ seconds }: Beat): string {
  return sumText(seconds) || 'not known';
}

/**
 * The whole time in words: `up 97.9 %, down 30 min`, `not known`. A member that was up counts as up while it caught up or was silent. The
 * time in which a member was away that may be counts neither way. */
export function uptimeText(beats: readonly Beat[]): string {
  const sums: Partial<Record<MemberCondition, number>> = {};
  for (const { seconds } of beats) {
    for (const condition of memberConditions) {
      const more = seconds[condition];
      if (more !== undefined) sums[condition] = (sums[condition] ?? 0) + more;
    }
  }
  const known = knownSeconds(sums);
  if (known < secondsMin) return 'not known';
  const rest = gravest
    .filter((condition) => (sums[condition] ?? 0) >= secondsMin)
    .map((condition) => `${conditionWords(condition)} ${formatDuration(sums[condition] ?? 0)}`);
  const expected = known - (sums.away ?? 0);
  const share = (upSeconds(sums) + (sums['cut-off'] ?? 0)) / expected;
  return [...(expected < secondsMin ? [] : [`up ${percent(share)}`]), ...rest].join(', ');
}

type Seconds = Beat['seconds'];

function sumText(seconds: Seconds): string {
  const up = upSeconds(seconds);
  return [
    ...(up >= secondsMin ? [`up ${formatDuration(up)}`] : []),
    ...gravest
      .filter((condition) => (seconds[condition] ?? 0) >= secondsMin)
      .map((condition) => `${conditionWords(condition)} ${formatDuration(seconds[condition] ?? 0)}`),
  ].join(', ');
}

function upSeconds({ active = 0, joining = 0, syncing = 0, silent = 0 }: Seconds): number {
  return active + joining + syncing + silent;
}

function knownSeconds(seconds: Seconds): number {
  return gravest.reduce((sum, condition) => sum + (seconds[condition] ?? 0), upSeconds(seconds));
}

/** Rounded down: what was down for a moment is not 100 %. */
function percent(share: number): string {
  return `${Math.floor(share * 1_000) / 10} %`;
}
