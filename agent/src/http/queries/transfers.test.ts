import { expect, test } from 'vitest';
import { type Standstill, waitSentence } from './transfers.ts';

const still: Standstill = {
  bytesPerSecond: 0,
  startedMs: 1_000,
  progressMs: undefined,
  isAsked: true,
  isSending: false,
  isShared: false,
  isLimited: false,
  isFull: false,
};

test.each<[string | null, Partial<Standstill>, string | null]>([
  [null, { bytesPerSecond: 1 }, 'bee'],
  ['There is no room for it on this disk.', { isFull: true, bytesPerSecond: 1 }, 'bee'],
  ['Searching for a member that has this content.', {}, null],
  ['Other files come from bee first.', { isAsked: false }, 'bee'],
  ['The limit for receiving of this member keeps it back.', { isAsked: false, isLimited: true }, 'bee'],
  ['Other members get their parts of it first, and pass them on.', { isAsked: false, isShared: true }, null],
  ['The next part waits for the line of bee, or for its limit for sending.', { isSending: true }, 'bee'],
  ['bee has sent no part of it for 12 s.', {}, 'bee'],
  ['bee has sent no part of it for 6 s.', { progressMs: 7_000 }, 'bee'],
  ['It was requested from bee just now.', { progressMs: 12_500 }, 'bee'],
])('[API7] %s', (sentence, more, source) => {
  expect(waitSentence({ ...still, ...more }, source, 13_000)).toBe(sentence);
});
