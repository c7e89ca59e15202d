import type { ApiEvent, LiveMessage } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { advance } from './event-stream.ts';

function event(number: number): LiveMessage {
  return { type: 'event', event: { number, at: 0, kind: 'joined', data: {} } };
}

test('[DB-A6] events are delivered once and in order, also if a new connection sends some again', () => {
  const messages: readonly LiveMessage[] = [
    { type: 'live', last: 3 },
    event(4),
    event(5),
    event(4),
    event(5),
    event(6),
    { type: 'gap', oldest: 10 },
    event(10),
  ];
  const told: ApiEvent[] = [];
  let last: number | undefined;
  for (const message of messages) {
    const next = advance(last, message);
    last = next.last;
    if (next.event !== undefined) told.push(next.event);
  }
  expect(told.map(({ number }) => number)).toEqual([4, 5, 6, 10]);
  expect(last).toBe(10);
});

test('[DB-A6] a journal that was lost restarts the numbers of its events: the gap says where to continue', () => {
  expect(advance(500, { type: 'gap', oldest: 1 }).last).toBe(0);
});
