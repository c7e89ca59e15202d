import { expect, test } from 'vitest';
import { healthEventKinds } from '../api/health-history.ts';
import { beatText, markOf, uptimeText } from './health-beats.ts';
import { healthEventText } from './health-event.ts';

test('[DB-H1] a beat has the gravest condition in it, and says all of them', () => {
  expect(markOf({ seconds: { active: 1_790, down: 10 } })).toBe('down');
  expect(markOf({ seconds: { active: 1_700, paused: 50, 'cut-off': 50 } })).toBe('paused');
  expect(markOf({ seconds: { active: 1_700, silent: 50, syncing: 50 } })).toBe('up');
  expect(markOf({ seconds: { active: 900, away: 900 } })).toBe('away');
  expect(markOf({ seconds: { active: 900, away: 890, down: 10 } })).toBe('down');
  expect(markOf({ seconds: { down: 0.2 } })).toBe('unknown');
  expect(markOf({ seconds: {} })).toBe('unknown');
  expect(beatText({ seconds: { active: 1_200, down: 600 } })).toBe('up 20 min, down 10 min');
  expect(beatText({ seconds: {} })).toBe('not known');
});

test('[DB-H1] the whole time is a share of what is known, rounded down', () => {
  expect(uptimeText([{ seconds: { active: 99_999 } }, { seconds: { down: 1 } }, { seconds: {} }])).toBe(
    'up 99.9 %, down 1 s',
  );
  expect(uptimeText([{ seconds: { active: 60 } }, { seconds: {} }])).toBe('up 100 %');
  expect(uptimeText([{ seconds: {} }])).toBe('not known');
  expect(uptimeText([{ seconds: { active: 90, down: 10 } }, { seconds: { away: 3_600 } }])).toBe(
    'up 90 %, down 10 s, away 1 h',
  );
  expect(uptimeText([{ seconds: { away: 600 } }])).toBe('away 10 min');
});

test('[DB-H2] every kind of event has a sentence', () => {
  const text = (kind: (typeof healthEventKinds)[number], data = {}) =>
    healthEventText({ number: 1, at: 0, kind, member: 'b', name: 'bee', data });
  expect(healthEventKinds.map((kind) => text(kind)).every((sentence) => /^[A-Zb]/.test(sentence))).toBe(true);
  expect(text('back', { was: 'down', forMs: 300_000 })).toBe('bee is back: it was down for 5 min');
  expect(text('started', { awayMs: 7_200_000 })).toBe('The agent of bee started, after 2 h without it');
  expect(text('left', { by: 'ant' })).toBe('bee was removed at ant');
  expect(text('conflict', { count: 3 })).toBe('3 conflicts arose');
});
