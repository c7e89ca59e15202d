import type { HealthEvent } from '../api/health-history.ts';
import { conditionWords } from './condition.ts';
import { problemWords } from './problem-words.ts';
import { formatDuration, formatItems } from './units.ts';

/** An event of the history of health as a sentence without a full stop. */
export function healthEventText({ kind, name, data }: HealthEvent): string {
  const { was, forMs, awayMs, by, code = '', count = 1 } = data;
  switch (kind) {
    case 'started':
      return `The agent of ${name} started${awayMs === undefined ? '' : `, after ${durationText(awayMs)} without it`}`;
    case 'stopped':
      return `The agent of ${name} was stopped`;
    case 'joined':
      return `${name} joined`;
    case 'down':
      return `${name} went down`;
    case 'paused':
      return `${name} was paused`;
    case 'shut-down':
      return `${name} was shut down`;
    case 'away':
      return `${name} went away`;
    case 'cut-off':
      return `${name} was cut off from here`;
    case 'back':
      return was === undefined
        ? `${name} is back`
        : `${name} is back: it was ${conditionWords(was)} for ${durationText(forMs ?? 0)}`;
    case 'left':
      return by === undefined ? `${name} left` : `${name} was removed at ${by}`;
    case 'problem':
      return `${name} has a problem: ${problemWords(code)}`;
    case 'problem-over':
      return `${name} has this problem no more: ${problemWords(code)}`;
    case 'conflict':
      return count === 1 ? 'A conflict arose' : `${formatItems(count, 'conflict')} arose`;
    case 'conflicts-settled':
      return 'All conflicts are settled';
  }
}

function durationText(ms: number): string {
  return formatDuration(ms / 1_000);
}
