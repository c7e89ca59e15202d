import type { Applied, ContentId, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { needsNoMore, needsNoMoreOnDemand, type Standstill, waitSentence } from './transfers.ts';

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

const bee = 'bee' as OriginId;
const [first, second] = ['first' as ContentId, 'second' as ContentId];
const [moving, quiet] = [1_000, 8_000];

test.each<[string, boolean, { head: ContentId | undefined; applied: number; quietMs: number }]>([
  ['its content has not come', false, { head: first, applied: 0, quietMs: quiet }],
  ['its content came from others, too', true, { head: first, applied: 1, quietMs: moving }],
  ['a later version is to come', false, { head: second, applied: 0, quietMs: quiet }],
  ['a later version came instead', true, { head: second, applied: 1, quietMs: quiet }],
  ['it was removed', true, { head: undefined, applied: 1, quietMs: quiet }],
  ['an old version is fetched for its own sake', false, { head: second, applied: 1, quietMs: moving }],
])('[DB-X5] a file that is sent to a member, and %s: %s', (_, isNeededNoMore, { head, applied, quietMs }) => {
  const heads = [{ origin: bee, seq: 1, ...(head === undefined ? {} : { content: head }) }];
  const said: Applied = { vector: { [bee]: applied }, ranges: {} };
  expect(needsNoMore(heads, said, { content: first, quietMs })).toBe(isNeededNoMore);
});

test.each<[string, boolean, { held: ContentId | undefined; quietMs: number }]>([
  ['has it from others, too', true, { held: first, quietMs: quiet }],
  ['lacks the rest of it', false, { held: second, quietMs: quiet }],
  ['has told nothing', false, { held: undefined, quietMs: quiet }],
  ['still fetches it, although its filter seems to have it', false, { held: first, quietMs: moving }],
  ['has read as much as it wants', true, { held: second, quietMs: 30_000 }],
])('[DB-X5] a file that is sent to a member on demand, which %s: %s', (_, isNeededNoMore, { held, quietMs }) => {
  const holdings = held && { mayHave: (content: string) => content === held };
  expect(needsNoMoreOnDemand(holdings, { content: first, quietMs })).toBe(isNeededNoMore);
});
