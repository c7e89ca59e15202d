import { expect, test } from 'vitest';
import { StuckFiles } from './stuck-files.ts';

const hourMs = 3_600_000;

test('[OD5] a file that could not be removed is tried again an hour after the last attempt', () => {
  const stuck = new StuckFiles();
  stuck.add('a', 0);
  stuck.add('b', 10);
  expect([stuck.has('a', hourMs - 1), stuck.has('c', 0)]).toEqual([true, false]);
  stuck.add('a', 20);
  expect(stuck.has('a', hourMs + 19)).toBe(true);
  expect(stuck.has('b', hourMs + 19)).toBe(false);
  expect(stuck.has('a', hourMs + 20)).toBe(false);
});
