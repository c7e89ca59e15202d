import { readdir, rename, writeFile } from 'node:fs/promises';
import {
  type ApiEvent,
  eventsPageSchema,
  type JourneyStop,
  journeySchema,
  type LiveMessage,
  type LoggedOperation,
  liveMessageSchema,
  liveOperationsMessageSchema,
  operationsPageSchema,
  pathReportSchema,
} from '@lockstep/shared/api';
import { expect, onTestFinished, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import type { Member } from '../../testkit/member.ts';
import { run, shell } from '../../testkit/programs.ts';
import { useCluster } from '../../testkit/vitest/use-cluster.ts';

const cluster = useCluster(['ant', 'bee']);

const pair = () => [cluster().member('ant'), cluster().member('bee')] as const;

const patience = { timeout: 20_000, interval: 100 };

/** The rows of the log, page by page, from the newest to the oldest (`before`) or in the other direction (`after`). */
async function rowsOf(member: Member, way: 'before' | 'after', between?: () => Promise<void>): Promise<number[]> {
  const rows: number[] = [];
  let next: number | null = way === 'before' ? Number.MAX_SAFE_INTEGER : 0;
  while (next !== null) {
    const page = operationsPageSchema.parse(await member.get(`/ops?limit=37&${way}=${next}`));
    rows.push(...page.operations.map(({ row }) => row));
    next = page.next;
    await between?.();
  }
  return rows;
}

test('the operation log in pages has each operation once, in both directions, also while more are made', async () => {
  const [ant, bee] = pair();
  await shell(ant.folder, 'mkdir d; for n in $(seq 120); do echo $n > d/f$n; done');
  await cluster().settled();
  await shell(bee.folder, 'mv d/f1 d/g1; rm d/f2*; echo changed > d/f3');
  await cluster().settled();
  const { operations } = await ant.status();
  let made = 0;
  const backwards = await rowsOf(ant, 'before', async () => {
    await writeFile(ant.path(`more-${made++}`), 'more');
    await ant.wait({ for: 1 });
  });
  expect(backwards).toHaveLength(operations);
  expect(backwards).toEqual([...new Set(backwards)].sort((a, b) => b - a));
  await cluster().settled();
  const forwards = await rowsOf(ant, 'after');
  // A file may have been seen empty before it was written: two operations.
  expect(forwards).toHaveLength((await ant.status()).operations);
  expect(forwards.length).toBeGreaterThanOrEqual(operations + made);
  expect(forwards.slice(0, operations)).toEqual(backwards.reverse());
  const ofPath = operationsPageSchema.parse(await ant.get('/ops?path=d/f3'));
  const told = ofPath.operations.map(({ kind, memberName }) => `${kind} by ${memberName}`);
  expect([...new Set(told)]).toEqual(['put by bee', 'put by ant']);
  const report = pathReportSchema.parse(await bee.get('/paths/d/g1'));
  expect(report).toMatchObject({ path: 'd/g1' });
});

/** Follows the live events after number `after`, and puts them into `into`. */
async function follow(
  member: Member,
  after: number,
  into: ApiEvent[],
): Promise<{ socket: WebSocket; messages: LiveMessage[] }> {
  const address = `${member.url.replace('http', 'ws')}api/v1/events/live?after=${after}`;
  const socket = new WebSocket(address, { headers: { cookie: await member.logIn() } });
  onTestFinished(() => socket.terminate());
  const messages: LiveMessage[] = [];
  socket.on('error', () => undefined);
  socket.on('message', (data) => {
    const message = liveMessageSchema.parse(JSON.parse(String(data)));
    messages.push(message);
    if (message.type === 'event') into.push(message.event);
  });
  return { socket, messages };
}

/** Writes a file and waits for the event that others hold it; events of other matters may come before and after it. */
async function delivered(member: Member, name: string, seen: readonly ApiEvent[]): Promise<void> {
  const before = seen.length;
  await writeFile(member.path(name), name);
  const since = () => seen.slice(before).map(({ kind }) => kind);
  await vi.waitFor(() => expect(since()).toContain('delivered'), patience);
}

test('[API2] a reader that resumes from a number gets every event once, over a cut and over a restart of the agent', async () => {
  const [ant, bee] = pair();
  const seen: ApiEvent[] = [];
  const first = await follow(ant, 0, seen);
  await vi.waitFor(() => expect(first.messages.some(({ type }) => type === 'live')).toBe(true), patience);
  await delivered(ant, 'first', seen);
  first.socket.terminate();

  await bee.restart();
  await cluster().connected();
  await ant.restart();
  await cluster().connected();
  const last = seen.at(-1)?.number ?? 0;
  const second = await follow(ant, last, seen);
  await vi.waitFor(() => expect(second.messages.some(({ type }) => type === 'live')).toBe(true), patience);
  await delivered(ant, 'second', seen);
  expect(second.messages.some(({ type }) => type === 'gap')).toBe(false);
  expect(seen.map(({ number }) => number)).toEqual(seen.map((_, index) => index + 1));
  expect(seen.map(({ kind }) => kind)).toEqual(
    expect.arrayContaining(['started', 'active', 'joined', 'away', 'delivered', 'stopped']),
  );

  const paged: ApiEvent[] = [];
  for (let after = 0; ; after = paged.at(-1)?.number ?? 0) {
    const page = eventsPageSchema.parse(await ant.get(`/events?after=${after}&limit=4`));
    if (page.events.length === 0) break;
    paged.push(...page.events);
  }
  expect(paged.slice(0, seen.length)).toEqual(seen);
});

async function health(member: Member): Promise<{ status: number; answer: unknown }> {
  const response = await member.fetch('healthz');
  return { status: response.status, answer: await response.json() };
}

test('healthz says that the folder is gone, what to do, and that it is back', async () => {
  const bee = cluster().member('bee');
  expect(await health(bee)).toEqual({ status: 200, answer: { ok: true, state: 'active' } });
  const aside = `${bee.folder}-aside`;
  await rename(bee.folder, aside);
  await vi.waitFor(async () => expect((await health(bee)).status).toBe(503), patience);
  expect((await health(bee)).answer).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      /^The folder or its \.lockstep is gone.*Mount it, or put it back; nothing is deleted/,
    ),
  });
  await rename(aside, bee.folder);
  await vi.waitFor(async () => expect((await health(bee)).status).toBe(200), patience);
});

/** All series of a member with their values. */
async function scrape(member: Member): Promise<Map<string, number>> {
  const text = await (await fetch(`${member.url}metrics`)).text();
  const lines = text.split('\n').filter((line) => line.startsWith('lockstep_'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}

/** The value of the only series of this name whose labels contain `label`. */
function value(series: ReadonlyMap<string, number>, name: string, label = ''): number {
  const found = [...series].filter(([key]) => key.split('{')[0] === name && key.includes(label));
  expect(found, `series of ${name} with ${label}`).toHaveLength(1);
  return found[0]?.[1] ?? Number.NaN;
}

test('[API3] every metric follows what it measures, and none contains a path', async () => {
  const [ant, bee] = pair();
  await cluster().settled();
  const before = { ant: await scrape(ant), bee: await scrape(bee) };
  await shell(
    ant.folder,
    'mkdir labelled; echo x > labelled/secret-name; head -c 300000 /dev/urandom > labelled/large',
  );
  // An entry that may not be touched is in the way: the path stays pending, and there is a problem.
  await run('mkfifo', [bee.path('blocked-name')]);
  await writeFile(ant.path('blocked-name'), 'blocked');
  await vi.waitFor(async () => {
    const now = await scrape(bee);
    expect(value(now, 'lockstep_problems', 'path-in-the-way')).toBe(1);
    expect(value(now, 'lockstep_pending_paths')).toBe(1);
    expect(value(now, 'lockstep_queue_items', 'pending')).toBe(1);
    expect(value(now, 'lockstep_synchronised')).toBe(0);
  }, patience);
  expect(value(await scrape(ant), 'lockstep_peer_lag_operations', 'bee')).toBeGreaterThan(0);
  await run('rm', [bee.path('blocked-name')]);
  await cluster().settled();

  await bee.kill();
  await writeFile(ant.path('edited'), 'on ant');
  await ant.wait({ for: 1 });
  await vi.waitFor(async () => {
    const now = await scrape(ant);
    expect(value(now, 'lockstep_peer_connected', 'bee')).toBe(0);
    expect(value(now, 'lockstep_peer_lag_operations', 'bee')).toBeGreaterThan(0);
    expect(value(now, 'lockstep_peer_lag_seconds', 'bee')).toBeGreaterThan(0.5);
    expect([...now.keys()].filter((key) => key.startsWith('lockstep_peer_round_trip_seconds'))).toEqual([]);
    expect(value(now, 'lockstep_members', 'suspect') + value(now, 'lockstep_members', 'down')).toBe(1);
  }, patience);
  await writeFile(bee.path('edited'), 'on bee');
  const between = await scrape(ant);
  await bee.start();
  await cluster().connected();
  await cluster().settled();
  // The folders are level before ant has heard so of bee, measured the way to it, and seen the echo of its own writes.
  const after = await vi.waitFor(async () => {
    const now = { ant: await scrape(ant), bee: await scrape(bee) };
    expect(value(now.ant, 'lockstep_peer_round_trip_seconds', 'bee')).toBeGreaterThan(0);
    expect(value(now.ant, 'lockstep_peer_lag_operations', 'bee')).toBe(0);
    expect(value(now.ant, 'lockstep_peer_lag_seconds', 'bee')).toBe(0);
    expect(Math.abs(value(now.ant, 'lockstep_peer_clock_skew_seconds', 'bee'))).toBeLessThan(5);
    for (const queue of ['dirty', 'pending', 'fetch', 'inbox_bytes'])
      expect(value(now.ant, 'lockstep_queue_items', `"${queue}"`), queue).toBe(0);
    expect(value(now.ant, 'lockstep_peer_send_queue_bytes', 'bee')).toBe(0);
    return now;
  }, patience);

  const copies =
    value(after.ant, 'lockstep_conflict_copies_total') + value(after.bee, 'lockstep_conflict_copies_total');
  // Both may make it if each considered the other one gone for a moment ([CF5]): it is one copy nevertheless.
  expect(copies - value(before.ant, 'lockstep_conflict_copies_total')).toBeGreaterThanOrEqual(1);
  const copyNames = (await readdir(ant.folder)).filter((name) => name.startsWith('edited.conflict-'));
  const story = JSON.stringify([copyNames, await ant.get('/ops?limit=12'), await bee.get('/events?after=0&limit=500')]);
  expect(copyNames, story).toHaveLength(1);
  expect(value(after.ant, 'lockstep_conflicts')).toBe(0);
  expect(value(after.ant, 'lockstep_open_conflict_copies') - value(before.ant, 'lockstep_open_conflict_copies')).toBe(
    1,
  );
  const grown = (name: string, label = ''): number => value(after.ant, name, label) - value(before.ant, name, label);
  expect(grown('lockstep_files')).toBe(5);
  expect(grown('lockstep_directories')).toBe(1);
  expect(grown('lockstep_folder_bytes')).toBeGreaterThan(300_000);
  expect(grown('lockstep_journal_operations')).toBeGreaterThanOrEqual(6);
  expect(grown('lockstep_operations_made_total')).toBeGreaterThanOrEqual(5);
  expect(grown('lockstep_operations_received_total')).toBeGreaterThanOrEqual(1);
  expect(grown('lockstep_peer_sent_bytes_total', 'bee')).toBeGreaterThanOrEqual(300_000);
  expect(
    value(after.ant, 'lockstep_peer_received_bytes_total') - value(between, 'lockstep_peer_received_bytes_total'),
  ).toBeGreaterThanOrEqual(6);
  for (const name of ['lockstep_entries_applied_total', 'lockstep_applied_bytes_total', 'lockstep_scans_total'])
    expect(grown(name), name).toBeGreaterThan(0);
  expect(value(after.ant, 'lockstep_free_bytes')).toBeGreaterThan(0);
  expect(value(after.ant, 'lockstep_enabled_seconds')).toBeGreaterThan(1e9);

  const labels = [...between, ...after.ant, ...after.bee].map(([key]) => key).join('\n');
  expect(labels).not.toMatch(/secret-name|labelled|blocked-name|edited|\//);
});

test('[JY1] [JY2] a new operation is streamed, and its journey ends when all members hold it', async () => {
  const [ant, bee] = pair();
  const streamed: LoggedOperation[] = [];
  const socket = new WebSocket(`${bee.url.replace('http', 'ws')}api/v1/ops/live`, {
    headers: { cookie: await bee.logIn() },
  });
  onTestFinished(() => socket.terminate());
  let isLive = false;
  socket.on('message', (data) => {
    const message = liveOperationsMessageSchema.parse(JSON.parse(String(data)));
    if (message.type === 'live') isLive = true;
    else streamed.push(...message.operations);
  });
  await vi.waitFor(() => expect(isLive).toBe(true), patience);
  await writeFile(ant.path('traveller'), 'far away');
  await vi.waitFor(() => expect(streamed.at(-1)).toMatchObject({ path: 'traveller', size: 8 }), patience);
  const { origin, seq } = streamed.at(-1) as LoggedOperation;

  const journeyAt = async (member: Member) => journeySchema.parse(await member.get(`/ops/${origin}/${seq}`));
  // The author is shown to hold it from the beginning, but knows the time only after a sync has ended [PC1].
  const isDurable = async () => (await journeyAt(ant)).stops.every(({ appliedAt }) => appliedAt !== null);
  await vi.waitFor(async () => expect(await isDurable()).toBe(true), patience);
  await vi.waitFor(async () => expect((await journeyAt(bee)).holding).toBe(2), patience);

  const atAnt = await journeyAt(ant);
  expect(atAnt.stops.map(({ name }) => name)).toEqual(['ant', 'bee']);
  const [own, far] = atAnt.stops;
  expect(own).toMatchObject({ pushedAt: null, received: true, applied: true });
  const { pushedAt, receivedAt, appliedAt } = far as JourneyStop;
  const moments = [atAnt.madeAt, pushedAt, receivedAt, appliedAt].map(Number);
  expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  expect(moments).not.toContain(0);
  expect(Number(own?.appliedAt)).toBeGreaterThanOrEqual(Number(own?.receivedAt));

  const atBee = await journeyAt(bee);
  expect(atBee.stops.map(({ name, pushedAt: pushed }) => [name, pushed])).toEqual([
    ['ant', null],
    ['bee', null],
  ]);
  expect(atBee.operation.journaledAt).toBe(atBee.stops[1]?.receivedAt);
});
