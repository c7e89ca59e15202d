import { expect, test } from 'vitest';
import { LabNarrator } from './lab-narrator.ts';

type NamedEvent = readonly [member: string, kind: string, data: Record<string, unknown>];

function lines(events: readonly NamedEvent[]): readonly (string | undefined)[] {
  const narrator = new LabNarrator();
  return events.map(([member, kind, data], index) => narrator.lineOf(member, { number: index + 1, at: 1, kind, data }));
}

test.each<readonly [NamedEvent, string | undefined]>([
  [['ant', 'active', {}], 'ant joined'],
  [
    ['ant', 'delivered', { operations: 1300, files: 1204, deletes: 0, bytes: 5e6, ms: 900, members: 2 }],
    'ant: 1,204 files (5 MB) in 900 ms to 2 members',
  ],
  [
    ['ant', 'delivered', { operations: 2, files: 0, deletes: 1, bytes: 0, ms: 12, members: 1 }],
    'ant: 1 removal, 1 other change in 12 ms to 1 member',
  ],
  [
    ['cat', 'resynced', { name: 'ant', operations: 12_000, ms: 2300 }],
    'cat resynced: 12,000 operations from ant in 2.3 s',
  ],
  [['cat', 'resynced', { name: 'ant', operations: 0, ms: 3 }], undefined],
  [
    ['bee', 'conflict', { path: 'a\nb', copy: 'a\nb.conflict-x', name: 'cat' }],
    'conflict: a\\nb was changed in two places; the version of cat is kept as a\\nb.conflict-x',
  ],
  [
    ['ant', 'power-cut', { fetched: 69, undone: 1, copies: 0, paths: ['f1'] }],
    'ant had a power cut that undid 70 changes; the others bring them back',
  ],
  [
    ['ant', 'power-cut', { fetched: 1, undone: 0, copies: 1, paths: ['f1'] }],
    'ant had a power cut that undid 1 change; the others bring them back; 1 conflict copy kept',
  ],
  [
    ['ant', 'forked', { member: 'c', name: 'cat', operations: 3 }],
    'ant: cat was set back to an earlier state; both versions of each differing file are kept',
  ],
  [
    ['cat', 'forked', { member: 'c', name: 'cat', operations: 3 }],
    'cat was set back to an earlier state; both versions of each differing file are kept',
  ],
  [['bee', 'repaired', { path: 'a\nb' }], 'bee repaired a\\nb, which was damaged on its disk'],
  [['bee', 'content-lost', { path: 'a\nb', member: 'c', name: 'cat' }], 'a\\nb: no member has what cat wrote any more'],
  [['bee', 'problem', { detail: 'The disk is full.' }], 'bee: The disk is full.'],
  [['bee', 'problem', { nothing: 1 }], undefined],
  [['bee', 'of-a-later-version', {}], undefined],
])('%j', (event, line) => {
  expect(lines([event])).toEqual([line]);
});

test('a stopped member is not reported as down as well', () => {
  expect(
    lines([
      ['cat', 'stopped', {}],
      ['ant', 'down', { name: 'cat' }],
    ]),
  ).toEqual(['cat stopped', undefined]);
});

test('an event that several members report is printed once, and again after the member returned', () => {
  expect(
    lines([
      ['ant', 'down', { name: 'cat' }],
      ['bee', 'down', { name: 'cat' }],
      ['cat', 'active', {}],
      ['ant', 'down', { name: 'cat' }],
      ['ant', 'left', { name: 'cat' }],
      ['bee', 'left', { name: 'cat' }],
    ]),
  ).toEqual(['cat is down', undefined, 'cat joined', 'cat is down', 'cat left', undefined]);
});
