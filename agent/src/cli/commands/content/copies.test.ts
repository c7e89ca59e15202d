import type { CopiesReport } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { formatCopies } from './copies.ts';

const member = { id: 'a', name: 'ant', onDemand: true, counts: true };
const text = (report: Partial<CopiesReport>): string => formatCopies({ rules: [], members: [member], ...report });

test('[CP6] lockstep copies lists the rules, the one for all other files last', () => {
  expect(text({})).toBe('all files: on all members with the whole folder');
  expect(text({ rules: [{ pattern: '', copies: 1 }] })).toBe('all files: on at least 1 member');
  const rules = [
    { pattern: '', copies: 1 },
    { pattern: '*.iso', copies: 'all' as const },
  ];
  expect(text({ rules }).split('\n')).toEqual([
    '*.iso: on all members with the whole folder',
    'all other files: on at least 1 member',
  ]);
  expect(text({ rules: [{ pattern: 'a\u001b[2J', copies: 3 }] })).not.toContain('\u001b');
});

test('[CP6] it says which rules ask for more members than count now', () => {
  const rules = [
    { pattern: '', copies: 1 },
    { pattern: 'papers/', copies: 3 },
  ];
  const members = [member, { ...member, name: 'bee' }, { ...member, name: 'cow', counts: false, roomBytes: 1_000 }];
  expect(text({ rules, members }).split('\n')).toEqual([
    'papers/: on at least 3 members',
    'all other files: on at least 1 member',
    '3 copies of papers/ are wanted, and only 2 members can keep one now.',
    'cow does not count now: it was not heard for long, and its copies are made elsewhere where that is possible.',
  ]);
});

test('[CP6] it says who does not count, who makes copies, and who has no room', () => {
  const members: CopiesReport['members'] = [
    { ...member, counts: false, roomBytes: 1_000 },
    { ...member, name: 'new', counts: false },
    { ...member, name: 'bee', lacking: { files: 1, bytes: 2_000, isFull: false, isUnavailable: false } },
    {
      ...member,
      name: 'cow',
      lacking: { files: 3, bytes: 9_000_000, isFull: true, isUnavailable: false },
      paths: ['d/x', 'y'],
    },
  ];
  expect(text({ members }).split('\n').slice(1)).toEqual([
    'ant does not count now: it was not heard for long, and its copies are made elsewhere where that is possible.',
    'new does not count now: it has not told yet how much room it has.',
    'bee fetches 1 copy with 2 kB.',
    'cow has no room for 3 copies with 9 MB: raise its cache_size or free space on its disk, or add a member.',
    '  d/x',
    '  y',
    '  and 1 more',
  ]);
});
