import { expect, test } from 'vitest';
import { RoomPatience } from './room-patience.ts';

test('[OD24] a wait is over after four seconds in which nothing came and nothing was sent', () => {
  const patience = new RoomPatience();
  const wait = patience.begin({ nowMs: 0, sentBytes: 0 });
  expect(wait.isOver({ nowMs: 3_999, sentBytes: 1_000 }, false)).toBe(false);
  expect(wait.isOver({ nowMs: 3_999, sentBytes: 20_000 }, false)).toBe(false);
  expect(wait.isOver({ nowMs: 7_000, sentBytes: 20_000 }, true)).toBe(false);
  expect(wait.isOver({ nowMs: 10_999, sentBytes: 21_000 }, false)).toBe(false);
  expect(wait.isOver({ nowMs: 11_000, sentBytes: 21_000 }, false)).toBe(true);
});

test('[OD24] after a wait that found no room the next ones last half a second, until there was room or half a minute has passed', () => {
  const patience = new RoomPatience();
  const lasts = (startMs: number): number => {
    const wait = patience.begin({ nowMs: startMs, sentBytes: 0 });
    for (let ms = 0; ; ms += 100) if (wait.isOver({ nowMs: startMs + ms, sentBytes: 0 }, false)) return ms;
  };
  expect(lasts(0)).toBe(4_000);
  expect(lasts(5_000)).toBe(500);
  patience.reset();
  expect(lasts(6_000)).toBe(4_000);
  expect(lasts(40_000)).toBe(4_000);
});
