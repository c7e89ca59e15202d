import { expect, test } from 'vitest';
import { fitted } from './terminal.ts';

test('[CL13] a line that is rewritten takes at most the columns of the screen, whatever its characters', () => {
  expect(fitted('twelve chars', 9, 24)).toBe('twelve c');
  expect(fitted('写真と音楽.zip', 9, 24)).toBe('写真と音');
  expect(fitted('a👨‍👩‍👧b', 5, 24)).toBe('a👨‍👩‍👧b');
  expect(fitted('1\n2\n3', 80, 3)).toBe('1\n2');
});
