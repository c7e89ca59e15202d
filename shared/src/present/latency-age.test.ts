import { expect, test } from 'vitest';
import { member } from './_cluster.ts';
import { describeFigure, roundTrip, shortFigure } from './latency-age.ts';

const now = 100_000;
const ant = member('ant', { latenciesMs: { bee: 12, cat: 3 } });
const bee = member('bee', { latenciesMs: { ant: 11, cat: 4 }, lastSeenAt: now - 400 });
const cat = member('cat', { latenciesMs: { ant: 3, bee: 4 }, lastSeenAt: now - 5_000, condition: 'silent' });

const members = [ant, bee, cat];

test.each([
  ['a figure of the asked member', ant, bee, '12 ms'],
  ['one of another member that is heard', bee, ant, '11 ms'],
  ['one of the asked member to a member that is silent', ant, cat, '3 ms, not measured for 5 s'],
  ['one that a silent member reported', cat, ant, '3 ms, not measured for 5 s'],
  ['one to a member that is silent here', bee, cat, '4 ms, not measured for 5 s'],
  ['one to a member that is down here', bee, { ...cat, condition: 'down' as const }, '4 ms, not measured for 5 s'],
  ['one to a member that others hear', bee, { ...cat, condition: 'cut-off' as const }, '4 ms'],
  ['one that others pass on', { ...cat, condition: 'cut-off' as const }, bee, '4 ms'],
])('[DB-L6] %s', (_, from, to, expected) => {
  const figure = roundTrip({ from, to, members }, now);
  expect(figure && describeFigure(figure)).toBe(expected);
});

test('[DB-L6] a stale figure is in brackets where there is no room for words', () => {
  expect(shortFigure({ rttMs: 3, staleMs: undefined })).toBe('3 ms');
  expect(shortFigure({ rttMs: 3, staleMs: 5_000 })).toBe('(3 ms)');
});

test('[DB-L6] without a session there is no figure', () => {
  expect(roundTrip({ from: ant, to: member('dog'), members }, now)).toBeUndefined();
  expect(roundTrip({ from: { ...bee, condition: 'down' }, to: ant, members }, now)).toBeUndefined();
});

test('[DB-L6] a clock that was set back makes no figure older', () => {
  expect(roundTrip({ from: bee, to: ant, members }, bee.lastSeenAt ?? 0)?.staleMs).toBeUndefined();
  expect(roundTrip({ from: bee, to: ant, members }, 0)?.staleMs).toBeUndefined();
});

test('[DB-L6] in a large cluster, where members hear each other less often, a figure is current for longer', () => {
  const late = { ...bee, lastSeenAt: now - 5_000 };
  expect(roundTrip({ from: ant, to: late, members }, now)?.staleMs).toBe(5_000);
  const many = Array.from({ length: 32 }, (_, index) => member(`m${index}`));
  expect(roundTrip({ from: ant, to: late, members: many }, now)?.staleMs).toBeUndefined();
});
