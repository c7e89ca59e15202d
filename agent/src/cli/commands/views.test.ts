import type { MemberReport, PathReport, Status } from '@lockstep/shared/api';
import { clusterVerdict } from '@lockstep/shared/present';
import { describe, expect, test } from 'vitest';
import { groupOperations } from '../output/operation-line.ts';
import { formatReplay } from './replay.ts';
import { formatStatus } from './status.ts';
import { formatVerify } from './verify.ts';
import { formatWait } from './wait.ts';
import { formatWhy } from './why.ts';

const plain = (_colour: string, text: string): string => text;
const now = 1_700_000_000_000;

const ant: MemberReport = {
  id: 'a'.repeat(52),
  name: 'ant',
  self: true,
  state: 'active',
  condition: 'active',
  connected: true,
  rttMs: null,
  behind: 0,
  behindSeconds: 0,
  addresses: ['127.0.0.1:4701'],
  files: 1204,
  freeBytes: 2e9,
};

const cat: MemberReport = {
  ...ant,
  id: 'c'.repeat(52),
  name: 'cat',
  self: false,
  state: 'down',
  condition: 'down',
  connected: false,
  behind: 12,
  behindSeconds: 75,
  lastSeenAt: now - 185_000,
};

const status: Status = {
  member: {
    id: ant.id,
    name: 'ant',
    state: 'active',
    software: '0.1.0',
    startedAt: now,
    address: '127.0.0.1:4701',
    addresses: ['127.0.0.1:4701'],
    folder: '/x/ant',
    dashboard: 'http://127.0.0.1:4801/',
    origin: 'o',
  },
  now,
  paused: false,
  synchronised: true,
  pending: 0,
  conflicts: 0,
  conflictCopies: 0,
  problems: [],
  problemCount: 0,
  files: 1204,
  directories: 1,
  bytes: 5_000_000,
  freeBytes: 2e9,
  load: 0,
  operations: 1300,
  version: {},
  digest: '0',
  lastEvent: 1,
  members: [ant],
};

const written = {
  origin: 'o',
  seq: 1,
  member: ant.id,
  memberName: 'ant',
  at: now - 60_000,
  hlc: 1,
  kind: 'put',
  path: 'a\nb',
  size: 5,
} as const;

describe('status', () => {
  test('[CL9] begins with the state of the whole cluster', () => {
    const bee = { ...ant, name: 'bee', self: false };
    expect(
      formatStatus({ ...status, members: [ant, bee] }, plain)
        .split('\n')
        .slice(0, 5),
    ).toEqual([
      'ant  active',
      'cluster    Both members hold everything.',
      'folder     /x/ant',
      'holds      1,204 files and 1 directory, 5 MB; 2 GB free',
      'dashboard  http://127.0.0.1:4801/',
    ]);
  });

  test('[CT24] states the limits because of which something waits', () => {
    const limits = [
      { direction: 'send', bytesPerSecond: 2 * 1_048_576, until: '18:00' },
      { direction: 'receive', member: 'bee', bytesPerSecond: 262_144 },
    ] as const;
    const text = formatStatus({ ...status, limits }, plain);
    expect(text).toContain('limit      Sending is limited to 2 MiB/s until 18:00.\n');
    expect(text).toContain('limit      Receiving from bee is limited to 256 KiB/s.\n');
  });

  test('[CL5] reports what is missing on which member, and each problem with its path', () => {
    const text = formatStatus(
      {
        ...status,
        synchronised: false,
        pending: 1,
        members: [ant, cat],
        problems: [{ code: 'path-permission', path: 'x\x1b', detail: 'It cannot be read.', since: now - 7_200_000 }],
        problemCount: 1,
      },
      plain,
    );
    expect(text).toContain('cluster    cat is down; ant has 1 problem.\n');
    expect(text).toContain('pending    1 path not on this disk yet\n');
    expect(text).toMatch(/cat +c{8} +down +- +12 operations, 1 min 15 s .* 3 min ago/);
    expect(text).toContain('path-permission  x\\u{1b}: It cannot be read. (2 h ago)');
  });

  test('[CL5] of a member that was not heard since the start, says this: it may have been heard before', () => {
    const text = formatStatus({ ...status, members: [ant, { ...cat, lastSeenAt: undefined }] }, plain);
    expect(text).toMatch(/cat .* not since start +127\.0\.0\.1:4701/);
  });

  test('[CL5] lists ten problems of a code, and counts the rest', () => {
    const full = (path: string) => ({ code: 'disk-full', path, detail: 'There is no room.', since: now }) as const;
    const lost = { code: 'content-missing', path: 'y', detail: 'No member has it.', since: now } as const;
    const problems = [...Array.from({ length: 1_012 }, (_, index) => full(`${index}`)), lost];
    const text = formatStatus({ ...status, problems, problemCount: 1_013 }, plain);
    expect(text.split('\n').filter((line) => line.startsWith('  disk-full  '))).toHaveLength(11);
    expect(text).toContain('  content-missing  y: No member has it.');
    expect(text.split('\n').at(-1)).toBe('  disk-full  and 1,002 more: lockstep status --json');
  });

  test('[CL5] also counts problems that the answer does not list', () => {
    const pipe = { code: 'path-special', path: 'p', detail: 'It is left alone.', since: now } as const;
    const problems = Array.from({ length: 12 }, () => pipe);
    const counted = { problemCount: 20_003, problemCounts: { 'path-special': 20_000, 'path-reserved': 3 } };
    const lines = formatStatus({ ...status, problems, ...counted }, plain).split('\n');
    expect(lines.slice(-2)).toEqual([
      '  path-special  and 19,990 more: lockstep status --json',
      '  path-reserved  and 3 more: lockstep status --json',
    ]);
  });

  test('[CL5] says when a silent member was heard last, and which member was removed', () => {
    const silent = { ...cat, connected: true, condition: 'silent' } as const;
    const removed = { ...cat, name: 'dog', state: 'left', condition: 'left', removedBy: 'ant' } as const;
    const text = formatStatus({ ...status, members: [ant, silent, removed] }, plain);
    expect(text).toMatch(/cat +c{8} +silent .* 3 min ago/);
    expect(text).toMatch(/dog +c{8} +removed /);
  });
});

const bee: MemberReport = { ...ant, id: 'b'.repeat(52), name: 'bee', self: false };
const refused = { code: 'member-refused', member: 'bee:4700', detail: 'Its key is another one.', since: now } as const;

test.each<[what: string, more: Partial<Status>, said: string]>([
  ['no other member', { members: [ant] }, 'ant is alone and waits for others.'],
  ['all', { members: [ant, bee] }, 'Both members hold everything.'],
  [
    'one that left',
    { members: [ant, bee, { ...cat, state: 'left', condition: 'left' }] },
    'Both members hold everything.',
  ],
  ['a problem of another', { members: [ant, { ...bee, problems: 1 }] }, 'bee has 1 problem.'],
  [
    'one that is away and lacks something',
    { members: [ant, bee, { ...cat, behind: 18_244 }] },
    'cat is down; the other two hold everything.',
  ],
  [
    'one that was shut down and lacked nothing',
    { members: [ant, bee, { ...cat, condition: 'shut-down', behind: 0 }] },
    'cat is shut down; the other two hold everything.',
  ],
  ['all are away', { members: [ant, cat] }, 'cat is down.'],
  [
    'all refuse it',
    { synchronised: false, members: [ant], problems: [refused], problemCount: 1 },
    'Every member that ant reached refuses it.',
  ],
])('[CL9] status and the page describe the cluster alike: %s', (_, more, said) => {
  const shown = { ...status, ...more };
  expect(clusterVerdict(shown).text).toBe(said);
  expect(formatStatus(shown, plain).split('\n')[1]).toBe(`cluster    ${said}`);
});

test('[CL5] why reports versions, holders and what is waited for', () => {
  const report: PathReport = {
    path: 'a\nb',
    known: true,
    ignored: false,
    heads: [written],
    disk: null,
    remote: false,
    pending: true,
    behind: 0,
    waitsFor: [{ member: cat.id, reason: 'It is down.' }],
    holders: [
      { member: ant.id, name: 'ant', condition: 'active', holds: true },
      { member: cat.id, name: 'cat', condition: 'down', holds: false },
    ],
    problem: null,
    conflictCopies: [],
    log: [{ ...written, row: 1, journaledAt: now }],
  };
  expect(formatWhy(report, now, plain).split('\n')).toEqual([
    'a\\nb is not on this disk yet',
    '',
    'Version',
    '  ant wrote a\\nb (5 B), 1 min ago',
    '',
    'Held by',
    '  yes  ant (active)',
    '  no   cat (down)',
    '',
    'Waits for',
    '  cat: It is down.',
    '',
    'Newest operations',
    '  ant wrote a\\nb (5 B), 1 min ago',
  ]);
  const summaryOf = (more: Partial<PathReport>) =>
    formatWhy({ ...report, path: 'a', pending: false, ...more }, now, plain).split('\n')[0];
  const [here, downCat] = report.holders as [PathReport['holders'][number], PathReport['holders'][number]];
  expect(summaryOf({ holders: [here] })).toBe('a is on this disk as the cluster knows it');
  expect(summaryOf({ holders: [here, { ...downCat, condition: 'active' }] })).toBe(
    'a is on this disk as the cluster knows it',
  );
  // All others are down, or refuse this member.
  expect(summaryOf({})).toBe('a is on this disk as far as this member knows: it hears no other member');
  expect(summaryOf({ changing: true })).toBe(
    'a is on this disk, and may have changed since: this member has not read it yet',
  );
  expect(summaryOf({ changing: true, known: false, heads: [] })).toBe(
    'a is not known yet: this member has not read it since it changed',
  );
  expect(summaryOf({ behind: 2 })).toBe('a is on this disk by what this member knows: it lacks 2 operations');
  expect(summaryOf({ behind: 1, heads: [{ ...written, kind: 'delete' }] })).toBe(
    'a has been removed by what this member knows: it lacks 1 operation',
  );
});

test('[CL5] why reports a path that is left alone, and no holders of an unknown path', () => {
  const unknown: PathReport = {
    path: 'x',
    known: false,
    ignored: false,
    heads: [],
    disk: null,
    remote: false,
    pending: false,
    behind: 0,
    waitsFor: [],
    holders: [],
    problem: null,
    conflictCopies: [],
    log: [],
  };
  expect(formatWhy(unknown, now, plain)).toBe(
    'x is not known: it is not in this folder, and no member has reported it',
  );
  const problem = { code: 'path-special', path: 'x', detail: 'x is a pipe.', since: now } as const;
  expect(formatWhy({ ...unknown, problem }, now, plain)).toBe(
    'x is left alone: it is not replicated\n\nProblem\n  x is a pipe.',
  );
});

test('[CL5] wait names the blocking path, member and reason', () => {
  const result = { done: false, wanted: 3, holding: 2, members: 3, elapsedMs: 60_000 };
  const blocking = [{ path: 'x', memberName: 'cat', reason: 'It is down.' }];
  expect(formatWait({ ...result, blocking })).toMatch(
    /^Not done after 1 min 0 s: .*\nPATH +MEMBER +REASON\nx +cat +It is down\.$/,
  );
  const many = Array.from({ length: 100 }, (_, index) => ({
    ...blocking[0],
    path: `x${index}`,
    reason: 'It is down.',
  }));
  const lines = formatWait({ ...result, blocking: many }).split('\n');
  expect([lines.length, lines.at(-1)]).toEqual([23, 'and more: --json prints up to 100']);
  expect(formatWait({ ...result, done: true, blocking: [] })).toBe('Done: durable on 3 of 3 members after 1 min 0 s.');
});

test('[CP7] a wait for copies on members on demand says how many are wanted, not on how many members the whole folder is', () => {
  const result = { wanted: 1, holding: 1, members: 4, elapsedMs: 4_000, copies: 2 };
  expect(formatWait({ ...result, done: true, blocking: [] })).toBe(
    'Done: each file is on as many members as copies are wanted (2 at most), and 4 members know of it, after 4 s.',
  );
  const blocking = [{ path: 'x', memberName: 'cat', reason: 'It is on 1 member, and is to be on 2.' }];
  expect(formatWait({ ...result, done: false, blocking })).toContain(
    'Not done after 4 s: each file must be on as many members as copies are wanted (2 at most), and 4 members must know of it.',
  );
});

test('[OD8] a wait next to members on demand says which members it counted', () => {
  const result = { wanted: 1, holding: 1, members: 4, elapsedMs: 4_000, whole: 1 };
  const counted = '1 of 1 member with the whole folder (of 4 members; the rest fetch contents on demand)';
  expect(formatWait({ ...result, done: true, blocking: [] })).toBe(`Done: durable on ${counted} after 4 s.`);
  expect(formatWait({ ...result, done: false, holding: 0, blocking: [] })).toContain(`${counted} must have it`);
});

test('[CL5] a wait that is not done although enough members have everything says what is in the way', () => {
  const result = { done: false, wanted: 2, holding: 2, members: 3, elapsedMs: 4_000 };
  const text = formatWait({ ...result, blocking: [{ path: 'x', memberName: 'cat', reason: 'It is not shown.' }] });
  expect(text).toContain('Not done after 4 s: all of it is durable on 2 members, and this is still in the way.');
});

test('[RP1] [RP2] verify and replay say what is wrong, path by path', () => {
  const equal = { compared: 2, differing: 0, paths: [] };
  expect(formatVerify({ ok: true, heads: equal, disk: equal, elapsedMs: 5 }, plain)).toContain(
    'Everything agrees (5 ms).',
  );
  const broken = { compared: 2, differing: 3, paths: [{ path: 'x', reason: 'Its bytes differ.' }] };
  expect(formatVerify({ ok: false, heads: equal, disk: broken, elapsedMs: 5 }, plain)).toContain(
    '3 paths differ\n  x: Its bytes differ.\n  …',
  );
  const rebuilt = { files: 1, directories: 2, symlinks: 0, bytes: 5, elapsedMs: 5 };
  expect(formatReplay({ ...rebuilt, missing: [] }, '/y')).toBe(
    'Rebuilt 1 file, 2 directories, 0 links (5 B) in /y in 5 ms.',
  );
  expect(formatReplay({ ...rebuilt, missing: [{ path: 'x', reason: 'No member has it.' }] }, '/y')).toContain(
    'x: No member has it.',
  );
});

const row = (origin: string, seq: number, group?: number) =>
  ({ ...written, origin, seq, row: seq, journaledAt: now, ...(group === undefined ? {} : { group }) }) as const;

test('operations of one group are one line, those of another origin or group are not', () => {
  const groups = groupOperations([
    row('o', 1),
    row('o', 2),
    row('o', 3, 2),
    row('o', 4, 2),
    row('p', 5, 2),
    row('o', 6, 6),
    row('o', 7, 6),
  ]);
  expect(groups.map((group) => group.map(({ seq }) => seq))).toEqual([[1], [2, 3, 4], [5], [6, 7]]);
});

test('[CL12] operations of another member between those of a group do not divide it', () => {
  const groups = groupOperations([row('o', 2), row('p', 9), row('o', 3, 2), row('o', 4)]);
  expect(groups.map((group) => group.map(({ seq }) => seq))).toEqual([[2, 3], [9], [4]]);
});
