import { expect, test } from 'vitest';
import { compareMoving, memberProgress, type SaidProgress } from './member-progress.ts';

const third: SaidProgress = { totalBytes: 300, missingBytes: 200, bytesPerSecond: 20 };

test.each<{ name: string; said: SaidProgress; known?: readonly number[]; progress: unknown }>([
  { name: 'a third', said: third, progress: { there: 100, total: 300, bytesPerSecond: 20, secondsLeft: 10 } },
  { name: 'nothing missing', said: { totalBytes: 300, missingBytes: 0 }, progress: undefined },
  { name: 'an empty folder', said: { totalBytes: 0, missingBytes: 0 }, progress: undefined },
  {
    name: 'a newcomer that knows half of the operations',
    said: { ...third, totalBytes: 150, missingBytes: 50 },
    known: [300, 290],
    progress: { there: 100, total: 300, bytesPerSecond: 20, secondsLeft: 10 },
  },
  {
    name: 'a newcomer that knows none',
    said: { totalBytes: 0, missingBytes: 0 },
    known: [300],
    progress: { there: 0, total: 300, bytesPerSecond: null, secondsLeft: null },
  },
  {
    name: 'a stalled one',
    said: { ...third, bytesPerSecond: 0 },
    progress: { there: 100, total: 300, bytesPerSecond: 0, secondsLeft: null },
  },
])('[SY40] the progress of $name', ({ said, known = [], progress }) => {
  expect(memberProgress(said, known)).toEqual(progress);
});

test('[API10] files that move are listed first, then those with the fewest bytes left', () => {
  const file = (path: string, bytesLeft: number, bytesPerSecond: number) => ({ path, bytesLeft, bytesPerSecond });
  const waiting = [file('small', 1, 0), file('b', 5, 0), file('a', 5, 0)];
  const moving = [file('film', 9_000, 70), file('nearly done', 8, 1)];
  expect([...waiting, ...moving].sort(compareMoving).map(({ path }) => path)).toEqual([
    'nearly done',
    'film',
    'small',
    'a',
    'b',
  ]);
});
