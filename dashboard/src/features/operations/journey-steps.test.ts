import type { Journey, JourneyStop } from '@lockstep/shared/api';
import { describe, expect, test } from 'vitest';
import { longestOf, placeOnLine, stepsOf } from './journey-steps.ts';

function stop(more: Partial<JourneyStop> = {}): JourneyStop {
  const moments = { pushedAt: 1_002, receivedAt: 1_005, appliedAt: 1_020 };
  return { member: 'b', name: 'bee', condition: 'active', received: true, applied: true, ...moments, ...more };
}

function journey(...stops: readonly JourneyStop[]): Journey {
  const operation = { origin: 'a.a', seq: 1, member: 'a', memberName: 'ant', kind: 'put', path: 'p' } as const;
  const logged = { ...operation, at: 1_000, hlc: 1, row: 1, journaledAt: 1_000 };
  return { operation: logged, writtenAt: 990, madeAt: 1_000, stops, holding: 1, members: stops.length };
}

describe('[DB-J5] the steps of a journey', () => {
  test.each<[string, Partial<JourneyStop>, string[]]>([
    ['all known', {}, ['sent done 2 2', 'journaled done 5 3', 'on disk done 20 15']],
    ['sent by another', { pushedAt: null }, ['journaled done 5 5', 'on disk done 20 15']],
    [
      'not there yet',
      { receivedAt: null, appliedAt: null, received: false, applied: false },
      ['sent done 2 2', 'journaled open', 'on disk open'],
    ],
    [
      'done at an unknown time',
      { pushedAt: null, receivedAt: null, appliedAt: null },
      ['journaled unknown', 'on disk unknown'],
    ],
    [
      'a clock that is behind',
      { pushedAt: 900, receivedAt: 950 },
      ['sent done 0 0', 'journaled done 0 0', 'on disk done 20 20'],
    ],
  ])('%s', (_, more, expected) => {
    const one = stop(more);
    const told = stepsOf(journey(one), one).map(({ name, state, sinceMs, tookMs }) =>
      [name, state, sinceMs, tookMs].filter((part) => part !== undefined).join(' '),
    );
    expect(told).toEqual(expected);
  });

  test('the line is as long as the last step, and milliseconds stay apart next to hours', () => {
    const late = journey(stop(), stop({ receivedAt: 3_601_000, appliedAt: 3_601_000 }));
    expect(longestOf(late)).toBe(3_600_000);
    expect(longestOf(journey())).toBe(1);
    expect(placeOnLine(0, 3_600_000)).toBe(0);
    expect(placeOnLine(20, 3_600_000)).toBeGreaterThan(0.15);
    expect(placeOnLine(3_600_000, 3_600_000)).toBe(1);
  });
});
