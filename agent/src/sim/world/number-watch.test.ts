import type { Operation, OriginId } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { LoneMember } from '../lone-member.ts';
import type { Machine } from './machine.ts';
import { NumberWatch } from './number-watch.ts';

const bee = 'bee' as OriginId;

test('an operation supersedes one of another branch by its number alone', () => {
  const watch = new NumberWatch();
  const gives = ({ id, journal }: LoneMember, operations: readonly Operation[]): void => {
    journal.append(operations);
    watch.appended({ name: 'ant', id, journal, engine: undefined } as Partial<Machine> as Machine, operations);
  };
  const [ant, restored] = [new LoneMember(), new LoneMember()];
  const undone = ant.operation('file', { kind: 'put', text: 'undone' });
  const later = ant.operation('other', { kind: 'put', text: 'other' });
  gives(ant, [undone, later]);
  const newer = ant.operation('file', { kind: 'put', text: 'theirs' }, { origin: bee, parents: [undone, later] });
  const apart = ant.operation('file', { kind: 'put', text: 'apart' }, { origin: 'cat' as OriginId });
  const again = restored.operation('file', { kind: 'put', text: 'mine' });
  const mine = { ...again, hlc: again.hlc + 1 };
  gives(restored, [mine]);
  expect([mine.origin, mine.seq]).toEqual([undone.origin, undone.seq]);
  expect(watch.supersedesUnseen(newer, mine, 1)).toBe(true);
  expect(watch.supersedesUnseen(newer, undone, 1), 'its author had this one').toBe(false);
  expect(watch.supersedesUnseen(apart, mine, 1), 'it is concurrent').toBe(false);
  expect(watch.supersedesUnseen(newer, mine, 0), 'the number is above the seal').toBe(false);
  expect(watch.supersedesUnseen(newer, mine, undefined), 'the fork was not found').toBe(false);
});
