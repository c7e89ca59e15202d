import { expect, test } from 'vitest';
import { problemWords } from './problem-words.ts';

test('[DB-P1] a problem in words, including one that only a newer member knows', () => {
  expect(problemWords('disk-full')).toBe('disk full');
  expect(problemWords('disk-on-fire')).toBe('disk on fire');
});
