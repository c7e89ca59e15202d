import type { ContentId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { ByteCache } from './byte-cache.ts';

const [a, b, c] = ['a', 'b', 'c'] as ContentId[] as [ContentId, ContentId, ContentId];

test('above the byte limit the oldest contents are dropped', () => {
  const contents = new ByteCache(10);
  contents.put(a, new Uint8Array(4));
  contents.put(b, new Uint8Array(4));
  contents.put(a, new Uint8Array(5));
  contents.put(c, new Uint8Array(4));
  expect([a, b, c].map((content) => contents.get(content)?.length)).toEqual([5, undefined, 4]);
  expect(contents.bytes).toBe(9);
});

test('a sweep drops contents that are not needed, a few at a time, in turn', () => {
  const contents = new ByteCache(100);
  for (const content of [a, b, c]) contents.put(content, new Uint8Array(1));
  contents.sweep(2, (content) => content === a);
  expect([a, b, c].map((content) => contents.get(content)?.length)).toEqual([1, undefined, 1]);
  contents.sweep(1, () => false);
  expect([a, c].map((content) => contents.get(content)?.length)).toEqual([1, undefined]);
  expect(contents.bytes).toBe(1);
});

test('ageing drops contents that the previous call found, unless they were put again', () => {
  const contents = new ByteCache(100);
  contents.put(a, new Uint8Array(1));
  contents.put(b, new Uint8Array(1));
  contents.age();
  contents.put(b, new Uint8Array(1));
  contents.put(c, new Uint8Array(1));
  contents.age();
  expect([a, b, c].map((content) => contents.get(content)?.length)).toEqual([undefined, 1, 1]);
  contents.age();
  expect(contents.bytes).toBe(0);
});
