import { expect, test } from 'vitest';
import type { MemberReport, Status } from '../api.ts';
import { member, status } from './_cluster.ts';
import { causesOf, isHidden, noticeFreeBytesMin } from './causes.ts';

const room = { freeBytes: 2 * noticeFreeBytesMin };
const [ant, bee, cat] = [member('ant'), member('bee', room), member('cat', room)];
const away = { state: 'down', condition: 'down', connected: false, rttMs: null, stateSince: 7 } as const;
const downBee = member('bee', { ...away, freeBytes: 0 });
const downCat = member('cat', away);

function problem(code: string, path?: string): Status['problems'][number] {
  return { code: code as Status['problems'][number]['code'], path, detail: `see ${path}`, since: 1 };
}

function causes(members: readonly MemberReport[], more: Partial<Status> = {}): readonly string[] {
  const asked = status(members, { ...room, ...more });
  return causesOf(asked, noticeFreeBytesMin).map(({ key, kind, text }) => `${kind} | ${key} | ${text}`);
}

test.each<[string, readonly string[], readonly MemberReport[], Partial<Status>?]>([
  ['nothing', [], [ant, bee, cat]],
  ['a member that is down', ['down | down bee | bee is down'], [ant, downBee, cat]],
  [
    'several that are down and none that is heard: one cause',
    ['down | alone ant | ant hears none of the other members: it may be cut off'],
    [ant, downBee, downCat],
  ],
  [
    'nothing that a person did on purpose',
    [],
    [ant, { ...bee, condition: 'paused' }, { ...cat, condition: 'shut-down' }],
  ],
  ['nothing of a member that may be away', [], [ant, bee, { ...downCat, condition: 'away', mayBeAway: true }]],
  [
    'nothing while it catches up',
    [],
    [ant, { ...bee, condition: 'syncing', behind: 9 }, { ...cat, condition: 'silent' }],
  ],
  [
    'a grave problem of another member',
    ['disk | room bee | bee has 2 problems, disk full the worst'],
    [ant, { ...bee, problems: 2, worstProblem: 'disk-full', freeBytes: 5 }, cat],
  ],
  ['no problem that puts nothing at risk', [], [ant, { ...bee, problems: 1, worstProblem: 'path-special' }, cat]],
  [
    'its own problems, each code once and without a path',
    [
      'problem | problem ant content-missing | ant has a problem: content missing',
      'disk | room ant | ant has a problem: disk full',
    ],
    [ant, bee],
    {
      problems: [problem('content-missing', 'a'), problem('content-missing', 'b'), problem('disk-full')],
      freeBytes: 0,
    },
  ],
  [
    'disks with little room',
    [
      'disk | room bee | bee has only 900 MB of free disk space',
      'disk | room ant | ant has only 5 B of free disk space',
    ],
    [ant, { ...bee, freeBytes: 900_000_000 }],
    { freeBytes: 5 },
  ],
  [
    'no room where nothing is known of the disk',
    ['disk | problem ant folder-missing | ant has a problem: folder missing'],
    [ant, { ...bee, freeBytes: undefined }],
    { problems: [problem('folder-missing')], freeBytes: undefined },
  ],
  ['conflicts', ['conflict | conflict | 2 conflicts wait for a choice'], [ant, bee], { conflictCopies: 2 }],
  [
    'only its own while it is paused',
    ['conflict | conflict | 1 conflict waits for a choice'],
    [ant, downBee],
    { paused: true, conflictCopies: 1 },
  ],
  [
    'nothing once it has left',
    [],
    [ant, downBee],
    { member: { ...status([]).member, state: 'left' }, conflictCopies: 1 },
  ],
])('[NT2] the causes: %s', (_name, expected, members, more) => {
  expect(causes(members, more)).toEqual(expected);
});

test('[NT4] a cause about a member of which nothing is known is hidden, and not over', () => {
  const down = { key: 'down bee', kind: 'down', member: 'bee' } as const;
  const full = { key: 'room bee', kind: 'disk', member: 'bee' } as const;
  const hidden = (members: readonly MemberReport[], more: Partial<Status> = {}) =>
    [down, full].map((cause) => isHidden(status(members, more), cause));
  expect(hidden([ant, bee, cat])).toEqual([false, false]);
  expect(hidden([ant, downBee, cat])).toEqual([false, true]);
  expect(hidden([ant, { ...downBee, condition: 'unknown' }, cat])).toEqual([true, true]);
  expect(hidden([ant, bee, cat], { paused: true })).toEqual([true, true]);
  expect(hidden([ant, downBee, downCat])).toEqual([true, true]);
  expect(hidden([ant, { ...bee, condition: 'left', freeBytes: undefined }])).toEqual([false, false]);
  const own = { ...full, key: 'room ant', member: 'ant' };
  expect(isHidden(status([ant], { paused: true }), own)).toBe(false);
  expect(isHidden(status([ant], { freeBytes: undefined }), own)).toBe(true);
  expect(hidden([ant, { ...bee, freeBytes: undefined }])).toEqual([false, true]);
});
