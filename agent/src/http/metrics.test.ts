import { readFile } from 'node:fs/promises';
import type { MemberReport, Status } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

const ids = { ant: 'a'.repeat(52), bee: 'b'.repeat(52), cat: 'c'.repeat(52) };

function member(name: keyof typeof ids, more: Partial<MemberReport>): MemberReport {
  return {
    id: ids[name],
    name,
    self: false,
    state: 'active',
    condition: 'active',
    connected: true,
    rttMs: 1.5,
    behind: 0,
    behindSeconds: 0,
    addresses: [],
    sentBytes: 4_096,
    receivedBytes: 1_024,
    ...more,
  };
}

const members = [
  member('ant', { self: true, rttMs: null }),
  member('bee', {}),
  member('cat', {
    ...{ state: 'down', condition: 'away', mayBeAway: true, connected: false },
    ...{ rttMs: null, behind: 7, behindSeconds: 42 },
  }),
];

const status: Status = {
  member: {
    id: ids.ant,
    name: 'ant',
    state: 'active',
    software: '0.1.0',
    startedAt: 0,
    address: '0.0.0.0:4700',
    addresses: ['ant.example.net:4700'],
    folder: '/home/ant/shared',
    dashboard: 'http://127.0.0.1:4800/',
    origin: `${ids.ant}.abcdefgh`,
  },
  now: 0,
  paused: false,
  synchronised: true,
  pending: 0,
  conflicts: 0,
  conflictCopies: 0,
  problems: [{ code: 'path-permission', path: 'secret/key', detail: 'secret/key cannot be read: allow it.', since: 0 }],
  problemCount: 1,
  files: 1_204,
  directories: 37,
  bytes: 5_000_000,
  freeBytes: 80_000_000_000,
  history: { versions: 12, bytes: 3_000_000, bytesMax: 8_000_000_000, ageMsMax: 2_592_000_000 },
  filters: { members: 2, bytes: 2_048 },
  load: 0.02,
  operations: 1_300,
  version: {},
  digest: '0123456789abcdef',
  lastEvent: 0,
  members,
};

const snapshot = {
  operationsMade: 900,
  operationsReceived: 400,
  entriesApplied: 380,
  bytesApplied: 4_000_000,
  bytesReused: 1_000_000,
  conflictCopies: 1,
  contentQuestions: 30,
  falseFilterAnswers: 2,
  scans: 2,
  queues: { dirty: 0, pending: 3 },
  problems: new Map([['path-permission', 1] as const]),
};

async function scrape(metrics = createMetrics(() => ({ status, snapshot }))) {
  const text = await metrics.render();
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]));
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  const values = new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').at(-1)]));
  return { types, values, lines };
}

const bee = '{peer="bee",peer_id="bbbbbbbb"}';
const cat = '{peer="cat",peer_id="cccccccc"}';

test.each<[string, string]>([
  ['lockstep_info{member="ant",member_id="aaaaaaaa",state="active",software="0.1.0"}', '1'],
  ['lockstep_synchronised', '1'],
  [`lockstep_peer_connected${bee}`, '1'],
  [`lockstep_peer_connected${cat}`, '0'],
  [`lockstep_peer_may_be_away${bee}`, '0'],
  [`lockstep_peer_may_be_away${cat}`, '1'],
  [`lockstep_peer_round_trip_seconds${bee}`, '0.0015'],
  [`lockstep_peer_lag_operations${cat}`, '7'],
  [`lockstep_peer_lag_seconds${cat}`, '42'],
  [`lockstep_peer_sent_bytes_total${bee}`, '4096'],
  ['lockstep_queue_items{queue="pending"}', '3'],
  ['lockstep_operations_made_total', '900'],
  ['lockstep_operations_received_total', '400'],
  ['lockstep_content_questions_total', '30'],
  ['lockstep_false_answers_total', '2'],
  ['lockstep_filter_bytes', '2048'],
  ['lockstep_conflicts', '0'],
  ['lockstep_problems{code="path-permission"}', '1'],
  ['lockstep_problems{code="disk-full"}', '0'],
  ['lockstep_members{state="active"}', '2'],
  ['lockstep_members{state="down"}', '1'],
  ['lockstep_members{state="left"}', '0'],
  ['lockstep_open_conflict_copies', '0'],
  ['lockstep_paused', '0'],
  ['lockstep_history_versions', '12'],
  ['lockstep_history_bytes', '3000000'],
  ['lockstep_history_bytes_max', '8000000000'],
  ['lockstep_history_age_max_seconds', '2592000'],
  ['lockstep_files', '1204'],
  ['lockstep_folder_bytes', '5000000'],
])('%s is %s', async (series, value) => {
  const { values } = await scrape();
  expect(values.get(series)).toBe(value);
});

test('a member without a connection has no round trip, and this member is no peer', async () => {
  const { values, lines } = await scrape();
  expect(values.has(`lockstep_peer_round_trip_seconds${cat}`)).toBe(false);
  expect(lines.filter((line) => line.includes('peer="ant"'))).toEqual([]);
});

test('[OD17] what a member on demand prefetched is counted, and others have no such series', async () => {
  const plain = await scrape();
  expect(plain.lines.filter((line) => line.startsWith('lockstep_cache'))).toEqual([]);
  const counts = { usedBytes: 1, bytesMax: 2, files: 3, remoteFiles: 4, fetchedBytes: 5, droppedFiles: 6 };
  const prefetched = { prefetchedFiles: 30, prefetchedBytes: 4_000, prefetchHits: 12 };
  const cache = { ...counts, ...prefetched, hits: 20, misses: 7, pins: [] };
  const { values } = await scrape(createMetrics(() => ({ status: { ...status, cache }, snapshot })));
  expect(values.get('lockstep_cache_hits_total')).toBe('20');
  expect(values.get('lockstep_cache_misses_total')).toBe('7');
  expect(values.get('lockstep_cache_prefetched_files_total')).toBe('30');
  expect(values.get('lockstep_cache_prefetched_bytes_total')).toBe('4000');
  expect(values.get('lockstep_cache_prefetch_hits_total')).toBe('12');
});

test('[API3] no path is ever a label', async () => {
  const { lines } = await scrape();
  expect(lines.filter((line) => line.includes('secret') || line.includes('/home'))).toEqual([]);
});

test('no stale series is left, and a second scrape counts nothing twice', async () => {
  let shown = status;
  let counted = snapshot;
  const metrics = createMetrics(() => ({ status: shown, snapshot: counted }));
  const first = await scrape(metrics);
  expect(first.values.has(`lockstep_peer_lag_operations${cat}`)).toBe(true);
  shown = {
    ...status,
    problems: [],
    members: members.map((member) => (member.name === 'cat' ? { ...member, state: 'left' } : member)),
  };
  counted = { ...snapshot, problems: new Map() };
  const second = await scrape(metrics);
  expect(second.lines.filter((line) => line.includes('peer="cat"'))).toEqual([]);
  expect(second.values.get('lockstep_problems{code="path-permission"}')).toBe('0');
  expect(second.values.get('lockstep_operations_made_total')).toBe('900');
});

test('the process has metrics too', async () => {
  const { types } = await scrape();
  for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_seconds']) {
    expect(types.has(name), name).toBe(true);
  }
});

test('docs/METRICS.md names every metric of ours with its type, and no other', async () => {
  const document = await readFile(new URL('../../../docs/METRICS.md', import.meta.url), 'utf8');
  const documented = [...document.matchAll(/^\| `(lockstep_\w+)`[^|]*\| (\w+)\s*\|/gm)].map(([, name, type]) => [
    name,
    type,
  ]);
  const { types } = await scrape();
  const exposed = [...types].filter(([name]) => name?.startsWith('lockstep_'));
  expect(documented.sort()).toEqual(exposed.sort());
});
