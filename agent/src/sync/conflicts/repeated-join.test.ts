import type { Operation, OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { conflictPath, isConflictPath } from '../../core/conflict-name.ts';
import { contentOfText } from '../../sim/disk/content.ts';
import { LoneMember } from '../../sim/lone-member.ts';
import { ConflictResolver } from './resolver.ts';

const bee = 'bee' as OriginId;
const cat = 'cat' as OriginId;

/**
 * Ant joins its own version and that of bee, which is visible. Bee, without ant's version, makes an operation in `meanwhile` that takes
 * precedence over its own version. Returns the contents at the name and in the copies.
 */
async function joinedMeanwhile(meanwhile: (member: LoneMember, seen: Operation) => readonly Operation[]): Promise<{
  readonly name: readonly string[];
  readonly copies: readonly string[];
  readonly paths: readonly string[];
}> {
  const member = new LoneMember();
  const texts = ['least', 'seen', 'better'];
  const textOf = new Map(texts.map((text) => [contentOfText(text).id, text]));
  for (const text of texts) member.keeps(text);
  const least = member.operation('file', { kind: 'put', text: 'least' });
  const seen = member.operation('file', { kind: 'put', text: 'seen' }, { origin: bee });
  const others = meanwhile(member, seen);
  const joined = [least, seen, ...others.filter(({ origin }) => origin === cat)];
  const copy = member.operation(conflictPath('file', least.hlc, 'ant'), { kind: 'put', text: 'least' });
  const keeps = joined.filter(({ content }) => content === seen.content).sort((a, b) => b.hlc - a.hlc);
  const join = member.operation('file', { kind: 'put', text: 'seen' }, { parents: joined, keeps });
  member.received(least, seen, ...others, copy, join);
  new ConflictResolver(member.context, member, () => ({ id: member.id, state: 'active', enabledAt: 1 })).poke();
  await member.passes(10_000);
  expect(member.journal.totals.counts().contested).toBe(0);
  const textsAt = (heads: readonly Operation[]): string[] =>
    heads.flatMap(({ content }) => (content && textOf.get(content)) ?? []).sort();
  const copies = member.journal.heads.under('', undefined, 100).filter(({ path }) => isConflictPath(path));
  return {
    name: textsAt(member.journal.heads.at('file')),
    copies: textsAt(copies),
    paths: copies.map(({ path }) => path),
  };
}

describe('[CF11] the version that a join repeats', () => {
  const byBee = { origin: bee };

  test('neither keeps the name nor gets a second copy if it had lost to another join', async () => {
    const outcome = await joinedMeanwhile((member, seen) => {
      const better = member.operation('file', { kind: 'put', text: 'better' }, byBee);
      const copy = member.operation(conflictPath('file', seen.hlc, 'bee'), { kind: 'put', text: 'seen' }, byBee);
      const joined = { ...byBee, parents: [seen, better], keeps: [better] };
      return [better, copy, member.operation('file', { kind: 'put', text: 'better' }, joined)];
    });
    expect(outcome).toMatchObject({ name: ['better'], copies: ['least', 'seen'] });
  });

  test('is ordered among its siblings as its original was, and its copy has the name of that', async () => {
    let first: Operation | undefined;
    const outcome = await joinedMeanwhile((member, seen) => {
      first = seen;
      return [member.operation('file', { kind: 'put', text: 'better' }, { origin: 'dan' as OriginId })];
    });
    expect(outcome).toMatchObject({ name: ['better'], copies: ['least', 'seen'] });
    expect(outcome.paths).toContain(conflictPath('file', first?.hlc ?? 0, 'bee'));
  });

  test('gets no copy if it was overwritten', async () => {
    const outcome = await joinedMeanwhile((member, seen) => [
      member.operation('file', { kind: 'put', text: 'better', replaced: 'seen' }, { ...byBee, parents: [seen] }),
    ]);
    expect(outcome).toMatchObject({ name: ['better'], copies: ['least'] });
  });

  test('stays if another member had written it too', async () => {
    const outcome = await joinedMeanwhile((member, seen) => [
      member.operation('file', { kind: 'put', text: 'better', replaced: 'seen' }, { ...byBee, parents: [seen] }),
      member.operation('file', { kind: 'put', text: 'seen' }, { origin: cat }),
    ]);
    expect(outcome).toMatchObject({ name: ['seen'], copies: ['better', 'least'] });
  });
});
