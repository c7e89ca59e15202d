import type { MemberReport } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { groupOf, narrowed, sortedByNeed } from './member-groups.ts';

function member(name: string, more: Partial<MemberReport> = {}): MemberReport {
  const addresses = [`${name}.example.net:4700`];
  return {
    id: name,
    name,
    self: name === 'ant',
    state: 'active',
    condition: 'active',
    connected: true,
    rttMs: 1,
    behind: 0,
    behindSeconds: 0,
    addresses,
    ...more,
  };
}

const down = { state: 'down', condition: 'down', connected: false } as const;
const few = [
  member('ant'),
  member('bee', { state: 'left', condition: 'left', connected: false }),
  member('cat', { ...down, condition: 'paused' }),
  member('dog', { state: 'syncing', condition: 'syncing' }),
  member('eel', { state: 'suspect', condition: 'silent' }),
  member('fox', { ...down, condition: 'shut-down' }),
  member('gnu', { problems: 2, behind: 9 }),
  member('hen', down),
];
const namesOf = (members: readonly MemberReport[]) => members.map(({ name }) => name).join(' ');

test('[DB-O5] many members are sorted by need of attention; a few keep their order', () => {
  expect(few.map(groupOf)).toEqual('active left paused syncing silent shut-down problems down'.split(' '));
  expect(sortedByNeed(few)).toBe(few);
  const crowd = [...few, member('ibis', { behind: 1_204 })];
  expect(namesOf(sortedByNeed(crowd))).toBe('hen gnu cat fox eel dog ant ibis bee');
});

test('[DB-O6] members are filtered by part of a name or address, and by group', () => {
  expect(namesOf(narrowed(few, { part: ' E', group: null }))).toBe(namesOf(few));
  expect(namesOf(narrowed(few, { part: 'GNU', group: null }))).toBe('gnu');
  expect(namesOf(narrowed(few, { part: 'fox.example', group: 'shut-down' }))).toBe('fox');
  expect(namesOf(narrowed(few, { part: '', group: 'down' }))).toBe('hen');
});
