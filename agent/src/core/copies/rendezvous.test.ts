import { createHash } from 'node:crypto';
import type { ContentId, MemberId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { type Candidate, chooseMembers } from './rendezvous.ts';

const contents = Array.from({ length: 6_000 }, (_, index) => {
  return `b3:${createHash('sha256').update(String(index)).digest('hex')}` as ContentId;
});
const member = (name: string): MemberId => name.repeat(52).slice(0, 52) as MemberId;
const candidates = (weights: readonly number[]): Candidate[] =>
  weights.map((weight, index) => ({ id: member(String.fromCharCode(97 + index)), weight }));

/** How many of the contents each member keeps. */
function shares(all: readonly Candidate[], count: number): number[] {
  const kept = new Map(all.map(({ id }) => [id, 0]));
  for (const content of contents) {
    for (const id of chooseMembers(content, all, count)) kept.set(id, (kept.get(id) ?? 0) + 1);
  }
  return [...kept.values()];
}

test('[CP3] each of equal members keeps an equal share', () => {
  for (const share of shares(candidates([1, 1, 1, 1]), 2)) expect(share / contents.length).toBeCloseTo(0.5, 1);
});

test('[CP3] the shares are in proportion to the room', () => {
  const [small = 0, medium = 0, large = 0] = shares(candidates([1, 2, 5]), 1);
  expect(small / contents.length).toBeCloseTo(1 / 8, 1);
  expect(medium / contents.length).toBeCloseTo(2 / 8, 1);
  expect(large / contents.length).toBeCloseTo(5 / 8, 1);
});

test('[CP3] if a member goes, only its contents are placed elsewhere', () => {
  const all = candidates([3, 1, 2, 4]);
  const [gone, ...rest] = all;
  for (const content of contents.slice(0, 500)) {
    const before = chooseMembers(content, all, 2);
    const after = chooseMembers(content, rest, 2);
    const stayed = before.filter((id) => id !== gone?.id);
    expect(after.slice(0, stayed.length)).toEqual(stayed);
  }
});

test('[CP3] if the room of a member falls, no content comes to it, and the others keep theirs', () => {
  const before = candidates([4, 2, 2]);
  const after = candidates([1, 2, 2]);
  const [changed] = before;
  for (const content of contents.slice(0, 500)) {
    const [was] = chooseMembers(content, before, 1);
    const [is] = chooseMembers(content, after, 1);
    if (was !== changed?.id) expect(is).toBe(was);
  }
});

test('[CP3] the order of the candidates does not matter, and all are taken if there are no more', () => {
  const all = candidates([1, 2, 3]);
  for (const content of contents.slice(0, 100)) {
    expect(chooseMembers(content, all, 2)).toEqual(chooseMembers(content, all.toReversed(), 2));
  }
  expect(chooseMembers(contents[0] as ContentId, all, 5)).toHaveLength(3);
  expect(chooseMembers(contents[0] as ContentId, all, 0)).toEqual([]);
});
