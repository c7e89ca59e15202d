import { expect, test } from 'vitest';
import type { Progress } from '../api.ts';
import { changingSentence, percentOf, progressText, rateText, timeLeftText } from './progress.ts';

const third: Progress = { there: 145_000_000, total: 436_000_000, bytesPerSecond: 3_200_000, secondsLeft: 91 };

test.each<[string, Partial<Progress>]>([
  ['145 MB of 436 MB, 3.2 MB/s, 1 min left', {}],
  ['145 MB of 436 MB, stalled', { bytesPerSecond: 0, secondsLeft: null }],
  ['145 MB of 436 MB', { bytesPerSecond: null, secondsLeft: null }],
  ['all but 7 B of 436 MB, stalled', { there: 435_999_993, bytesPerSecond: 0, secondsLeft: null }],
  ['436 MB of 436 MB', { there: 436_000_000, bytesPerSecond: null, secondsLeft: null }],
  ['0 B of 436 MB', { there: 0, bytesPerSecond: null, secondsLeft: null }],
])('[SY41] %s', (text, more) => {
  expect(progressText({ ...third, ...more })).toBe(text);
});

test('[SY40] a member that lacks a byte is not at 100 percent', () => {
  expect(percentOf(third)).toBe(33);
  expect(percentOf({ there: 999_999, total: 1_000_000 })).toBe(99);
  expect(percentOf({ there: 0, total: 0 })).toBe(0);
});

test('[DB-X3] rates and times are in readable units', () => {
  expect(rateText(37_772_913)).toBe('37.8 MB/s');
  expect(rateText(0)).toBe('–');
  expect(timeLeftText(null)).toBeUndefined();
  expect(timeLeftText(0.4)).toBe('a moment left');
  expect(timeLeftText(135)).toBe('2 min left');
  expect(timeLeftText(380_000_000)).toBe('more than 30 days left');
});

test.each([
  [null, 'It is being read.'],
  [0.05, 'It is read again once it is still for a moment: a new version may follow.'],
  [4.2, 'It is read again in about 4 s: a new version may follow.'],
])('[CL27] a file that changes and is read in %s s', (readInS, sentence) => {
  expect(changingSentence({ readInS })).toBe(sentence);
});
