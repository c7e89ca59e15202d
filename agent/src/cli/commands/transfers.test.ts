import type { Transfers } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { formatTransfers, isMoving, looksAfter } from './transfers.ts';

const nothing = { left: 0, bytesPerSecond: 0, secondsLeft: null };

const idle: Transfers = {
  arriving: nothing,
  reused: 0,
  leaving: nothing,
  limits: [],
  transfers: [],
  departures: [],
  pending: 0,
  pendingPaths: [],
  changing: [],
  traffic: [],
  resyncs: [],
};

const film: Transfers['transfers'][number] = {
  path: 'films/one.mkv',
  sources: [{ member: 'b', name: 'bee', bytesPerSecond: 1e6 }],
  size: 60e6,
  done: 15e6,
  reused: 0,
  bytesPerSecond: 1e6,
  secondsLeft: 45,
  startedAt: 0,
  waitsFor: null,
};

test('nothing is on its way', () => {
  expect(isMoving(idle)).toBe(false);
  expect(formatTransfers(idle)).toBe('Nothing is on its way.');
});

test('[CL23] what has arrived is waited for until it is in place, but not without end, nor if nothing came', () => {
  const waiting = { ...idle, pending: 1, pendingPaths: [{ path: 'films/one.mkv', reason: 'It waits for its turn.' }] };
  const moving = looksAfter({ ...idle, transfers: [film] }, 0);
  expect(moving).toBeGreaterThan(1);
  expect(looksAfter(waiting, 0)).toBe(0);
  expect(looksAfter(waiting, moving)).toBe(moving - 1);
  expect(looksAfter(waiting, 1)).toBe(0);
  expect(looksAfter(idle, moving)).toBe(0);
});

test('[CL23] each file has a bar, its rate and the time left', () => {
  const answer = { ...idle, arriving: { left: 45e6, bytesPerSecond: 1e6, secondsLeft: 45 }, transfers: [film] };
  expect(isMoving(answer)).toBe(true);
  expect(formatTransfers(answer)).toBe(
    [
      'Arriving: 45 MB to go at 1 MB/s, about 45 s.',
      'FILE           MEMBER  DONE                         SIZE    RATE  LEFT',
      'films/one.mkv  bee     █████░░░░░░░░░░░░░░░  25 %  60 MB  1 MB/s  45 s',
    ].join('\n'),
  );
});

test('[CL27] between two versions of a file that grows it is named, with the time until its next read', () => {
  const answer = {
    ...idle,
    changing: [
      { path: 'film.mkv', readInS: null },
      { path: 'server.log', readInS: 4.2 },
    ],
  };
  expect(isMoving(answer)).toBe(false);
  expect(looksAfter(answer, 5)).toBe(4);
  expect(formatTransfers(answer)).toBe(
    [
      'Nothing is on its way.',
      'Changing: film.mkv. It is being read.',
      'Changing: server.log. It is read again in about 4 s: a new version may follow.',
    ].join('\n'),
  );
  const many = Array.from({ length: 12 }, (_, index) => ({ path: `log-${index}`, readInS: 1 }));
  expect(formatTransfers({ ...idle, changing: many }).split('\n')).toHaveLength(12);
  expect(formatTransfers({ ...idle, changing: many })).toContain('And 2 more files keep changing.');
});

test('[CT24] a limit that delays something is stated, and not once everything is there', () => {
  const limits = [{ direction: 'receive', member: 'bee', bytesPerSecond: 1_048_576, until: '18:00' }] as const;
  expect(formatTransfers({ ...idle, limits })).toBe('Nothing is on its way.');
  const answer = { ...idle, limits, arriving: { left: 45e6, bytesPerSecond: 1e6, secondsLeft: 45 }, transfers: [film] };
  expect(formatTransfers(answer).split('\n').at(-1)).toBe('Receiving from bee is limited to 1 MiB/s until 18:00.');
});

test('a file that stands still says why, and what leaves is another list', () => {
  const answer: Transfers = {
    ...idle,
    arriving: { left: 60e6, bytesPerSecond: 0, secondsLeft: null },
    leaving: { left: 10, bytesPerSecond: 0, secondsLeft: 90 },
    transfers: [{ ...film, done: 0, sources: [], bytesPerSecond: 0, waitsFor: 'Searching for a member.' }],
    departures: [{ path: 'a\nb', to: 'c', toName: 'cat', size: 0, sent: 12, bytesPerSecond: 0, startedAt: 0 }],
    pending: 3,
    pendingPaths: [{ path: 'next', reason: 'It waits for its turn.' }],
  };
  const lines = formatTransfers(answer).split('\n');
  expect(lines).toContain('films/one.mkv: Searching for a member.');
  expect(lines).toContain('Leaving: 10 B to go at 0 B/s; the others have all in about 1 min.');
  expect(lines.some((line) => line.startsWith('a\\nb  cat     ████████████████████  100 %'))).toBe(true);
  expect(lines.at(-1)).toBe('Waiting: 2 paths. The first is next: It waits for its turn.');
});

test('[CL23] all members that a file comes from are named, and what did not have to be sent', () => {
  const sources = ['bee', 'cat', 'dog', 'elk'].map((name) => ({ member: name, name, bytesPerSecond: 1e6 }));
  const answer = { ...idle, reused: 4e6, transfers: [{ ...film, sources }] };
  const lines = formatTransfers(answer).split('\n');
  expect(lines[2]).toMatch(/^films\/one\.mkv {2}bee, cat, dog \+1 {2}/);
  expect(lines.at(-1)).toBe('Did not have to be sent here since the start: 4 MB.');
});

test('a long list names the number of the others', () => {
  const transfers = Array.from({ length: 12 }, (_, index) => ({ ...film, path: `file ${index}` }));
  const lines = formatTransfers({ ...idle, transfers }).split('\n');
  expect(lines).toHaveLength(13);
  expect(lines.at(-1)).toBe('and 2 more files');
});
