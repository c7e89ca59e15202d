import type { Operation, OriginId } from '@lockstep/shared';
import { describe, expect, test } from 'vitest';
import { settlementOf } from './settlement.ts';

const [ant, bee] = ['a', 'b'].map((letter) => `${letter.repeat(52)}.bbbbbbbb` as OriginId) as [OriginId, OriginId];
const copy = 'n.conflict-20261121T065602123Z-ant.txt';

/** An operation made in second `second`, which includes all earlier ones of both members. Without content it is a delete. */
function made(origin: OriginId, seq: number, second: number, more: Partial<Operation> = {}): Operation {
  const vector = { [ant]: 100, [bee]: 100, [origin]: seq };
  const kind = more.content === undefined ? 'delete' : 'put';
  return { origin, seq, hlc: second * 1_000 * 1_024, kind, path: 'n.txt', version: { vector }, ...more };
}

const content = (text: string) => `b3:${text}` as NonNullable<Operation['content']>;

const lost = made(ant, 2, 10, { path: copy, content: content('ant') });
const winner = made(bee, 1, 9, { content: content('bee') });
const removal = made(bee, 5, 100, { path: copy });

function settled(known: { atPath?: readonly Operation[]; renamed?: Operation; atCopy?: readonly Operation[] }) {
  const { atPath = [winner], renamed, atCopy = [removal, lost] } = known;
  return settlementOf({ removal, atCopy, path: 'n.txt', atPath, renamed });
}

describe('[CF13] how a conflict was settled is known from the journal', () => {
  test('the copy was removed', () => {
    expect(settled({})).toEqual({ how: 'original', lost, by: undefined, before: undefined });
  });

  test('the copy replaced the original', () => {
    const renamed = made(bee, 4, 100, { content: content('ant'), from: copy });
    expect(settled({ renamed, atPath: [renamed, winner] })).toEqual({ how: 'copy', lost, by: renamed, before: winner });
  });

  test('the copy took the name of an original that was gone', () => {
    const renamed = made(bee, 4, 100, { content: content('ant'), from: copy });
    const gone = made(bee, 3, 50);
    expect(settled({ renamed, atPath: [renamed, gone, winner] })?.before).toBeUndefined();
  });

  test('both were kept', () => {
    const renamed = made(bee, 4, 100, { path: 'n (from ant).txt', content: content('ant'), from: copy });
    expect(settled({ renamed })).toEqual({ how: 'both', lost, by: renamed, before: undefined });
  });

  test('a text of both replaced the original', () => {
    const merged = made(bee, 4, 99, { content: content('both') });
    expect(settled({ atPath: [merged, winner] })).toEqual({ how: 'merged', lost, by: merged, before: winner });
  });

  test('a slow disk held it up before the copy was removed', () => {
    const merged = made(bee, 4, 90, { content: content('both') });
    expect(settled({ atPath: [merged, winner] })?.how).toBe('merged');
  });

  test.each([
    ['long before', made(bee, 4, 39, { content: content('x') })],
    ['before another change', made(bee, 3, 90, { content: content('x') })],
    ['by another member', made(ant, 4, 99, { content: content('x') })],
    ['afterwards', made(bee, 6, 101, { content: content('x') })],
    ['only in its mode', made(bee, 4, 99, { kind: 'attr', content: content('bee'), keeps: [winner] })],
  ])('a change of the original %s is no part of it', (_, other) => {
    expect(settled({ atPath: [other, winner] })).toMatchObject({ how: 'original', by: undefined });
  });

  test('an original that was made with it is no part of it', () => {
    const first = made(bee, 4, 99, { content: content('bee') });
    expect(settled({ atPath: [first] })).toMatchObject({ how: 'original', by: undefined });
  });

  test('a copy whose last version is unknown cannot come back', () => {
    expect(settled({ atCopy: [removal] })).toBeUndefined();
  });
});
