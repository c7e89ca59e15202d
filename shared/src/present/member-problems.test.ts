import { expect, test } from 'vitest';
import { member, status } from './_cluster.ts';
import { memberProblems, problemItemCount, staleViewReason } from './member-problems.ts';

const down = { state: 'down', condition: 'down', connected: false } as const;

test('[DB-P2] members that are down, paused, shut down or have problems need a person; those that left do not', () => {
  const seen = status(
    [
      member('ant', { problems: 2 }),
      member('bee', { problems: 1 }),
      member('cat', down),
      member('dog', { ...down, condition: 'shut-down' }),
      member('eel', { state: 'left', condition: 'left', connected: false, problems: 1 }),
      member('fox'),
      member('gnu', { ...down, condition: 'paused' }),
    ],
    { problemCount: 2 },
  );
  expect(memberProblems(seen).map(({ member: { name }, why }) => `${name} ${why}`)).toEqual([
    'bee problems',
    'cat down',
    'dog shut-down',
    'gnu paused',
  ]);
  expect(problemItemCount(seen)).toBe(6);
});

test('[DB-A5] a member that has a problem itself says that its view of the others may be old', () => {
  expect(staleViewReason(status([member('ant')]))).toBeUndefined();
  expect(staleViewReason(status([member('ant'), member('bee'), member('cat', down)]))).toBeUndefined();
  expect(staleViewReason(status([member('ant'), member('bee', down)]))).toMatch(
    /connected to no other member.*may be old/,
  );
  const problems = [{ code: 'folder-missing', detail: '', since: 0 }] as const;
  expect(staleViewReason(status([member('ant'), member('bee')], { problems }))).toMatch(/lost its own folder/);
});

test('[DB-L5] a member that others reach is not down: it and the asked one are cut off from each other', () => {
  const members = [
    member('ant', { latenciesMs: { bee: 1 } }),
    member('bee', { latenciesMs: { ant: 1, cat: 1 } }),
    member('cat', { condition: 'cut-off', connected: false, via: 'bee', latenciesMs: { bee: 1 } }),
  ];
  const seen = status(members, { now: 60_000 });
  expect(memberProblems(seen)).toEqual([]);
  expect(problemItemCount(seen)).toBe(1);
});

test('[DB-P2] a paused member knows of no problem of others: it hears none of them', () => {
  const members = [member('ant', { condition: 'paused' }), member('bee', { ...down, condition: 'unknown' })];
  expect(memberProblems(status(members, { paused: true }))).toEqual([]);
});
