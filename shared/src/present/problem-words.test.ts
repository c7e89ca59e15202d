import { expect, test } from 'vitest';
import { problemTone, problemWords } from './problem-words.ts';

test('[DB-P1] a problem in words, including one that only a newer member knows', () => {
  expect(problemWords('disk-full')).toBe('disk full');
  expect(problemWords('disk-on-fire')).toBe('disk on fire');
});

test('[DB-A1] a problem that puts nothing at risk has the colour of one that waits for a person', () => {
  expect(['path-special', 'disk-full', 'of-a-newer-member'].map(problemTone)).toEqual(['held', 'bad', 'bad']);
});
