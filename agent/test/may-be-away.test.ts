import { appendFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { beatsSchema, healthEventsSchema } from '@lockstep/shared/api';
import { clusterVerdict } from '@lockstep/shared/present';
import { expect, onTestFinished, test } from 'vitest';
import { lockstep, type Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const patience = { timeout: 60_000, interval: 200 };

/** A webhook that keeps the keys of the causes that it is told. */
async function openWebhook(): Promise<{ url: string; told: string[] }> {
  const told: string[] = [];
  const server = createServer(async (request, response) => {
    const { notices } = JSON.parse(await text(request)) as { notices: { key: string }[] };
    told.push(...notices.map(({ key }) => key));
    response.writeHead(204).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, told };
}

async function conditionOf(name: string, at: Member): Promise<string | undefined> {
  return (await at.status()).members.find((member) => member.name === name)?.condition;
}

test('[MB15] a member that may be away is away when it is off, on every member and after a restart, and no person is told', async () => {
  const { url, told } = await openWebhook();
  const env = { LOCKSTEP_NOTIFY_WEBHOOK: url, LOCKSTEP_NOTIFY_AFTER: '1s', LOCKSTEP_NOTIFY_FREE_SPACE: '0 B' };
  const cluster = await startCluster(['ant', 'bee', 'cat', 'dog'], { start: { env } });
  const [ant, bee, cat, dog] = ['ant', 'bee', 'cat', 'dog'].map((name) => cluster.member(name)) as [
    Member,
    Member,
    Member,
    Member,
  ];
  const until = (name: string, at: Member, condition: string) =>
    expect.poll(() => conditionOf(name, at), patience).toBe(condition);
  await cat.stop();
  await appendFile(cat.state('config.toml'), '\nmay_be_away = true\n');
  await cat.start();
  await cluster.connected();
  await cluster.settled();
  const catId = (await cat.status()).member.id;
  const dogId = (await dog.status()).member.id;
  const verdict = async () => clusterVerdict(await ant.status());
  // Once ant has heard that cat has everything.
  await expect.poll(verdict, patience).toMatchObject({ text: 'All 4 members hold everything.' });

  await cat.kill();
  for (const member of [ant, bee]) await until('cat', member, 'away');
  await expect
    .poll(verdict, patience)
    .toMatchObject({ tone: 'good', text: 'cat is away; the other 3 hold everything.' });
  expect((await lockstep(['status', ant.folder])).out).toMatch(/^cat .* away /m);

  // The status names the contents that it lacks, and waits count it.
  await ant.put('meanwhile', 'text');
  expect((await lockstep(['wait', '--for', 'majority', '--timeout', '60', ant.folder])).code).toBe(0);
  const wait = await lockstep(['wait', '--timeout', '3', ant.folder]);
  expect([wait.code, wait.out + wait.err]).toEqual([1, expect.stringContaining('cat is away, and is marked')]);
  expect((await ant.status()).members.find(({ name }) => name === 'cat')).toMatchObject({
    behind: 1,
    state: 'down',
    mayBeAway: true,
  });

  // The mark is in the journal: it holds for an agent that never heard cat since its start. Another member is told, which shows that
  // notices work.
  await dog.kill();
  await ant.restart();
  await until('cat', ant, 'away');
  await expect.poll(() => told, patience).toContain(`down ${dogId}`);
  expect(told.filter((key) => key.includes(catId))).toEqual([]);
  const beats = beatsSchema.parse(await ant.get('/health/beats?span=1h'));
  const seconds = beats.members.find(({ member }) => member === catId)?.beats.map((beat) => beat.seconds) ?? [];
  expect(seconds.some(({ away = 0 }) => away > 0)).toBe(true);
  expect(seconds.some(({ down = 0 }) => down > 0)).toBe(false);
  const { events } = healthEventsSchema.parse(await ant.get(`/health/events?member=${catId}`));
  expect(events.map(({ kind }) => kind)).toContain('away');
  expect(events.map(({ kind }) => kind)).not.toContain('down');

  // Shut down in order it is away too; a pause by a person stays a pause.
  await dog.start();
  await cat.start();
  await cluster.connected();
  await lockstep(['pause', cat.folder]);
  await until('cat', ant, 'paused');
  await lockstep(['resume', cat.folder]);
  await cluster.connected();
  await cat.stop();
  await until('cat', ant, 'away');

  // Without the mark it is down again.
  await cat.start({ env: { ...env, LOCKSTEP_MAY_BE_AWAY: 'false' } });
  await cluster.connected();
  await cluster.settled();
  await cat.kill();
  await until('cat', ant, 'down');
  expect(await lockstep(['remove', 'cat', ant.folder])).toMatchObject({ code: 0 });
  await until('cat', bee, 'left');
}, 500_000);

test('[MB15] init marks a member, and a wrong value names its line', async () => {
  const cluster = await startCluster(['ant']);
  const folder = `${cluster.root}/laptop`;
  expect(await lockstep(['init', '--name', 'laptop', '--may-be-away', folder])).toMatchObject({ code: 0 });
  expect((await lockstep(['config', folder])).out).toMatch(/^may_be_away +true +config\.toml:\d+$/m);
  const file = `${folder}/.lockstep/config.toml`;
  await writeFile(file, 'name = "laptop"\nmay_be_away = "often"\n');
  expect(await lockstep(['config', folder])).toMatchObject({
    code: 2,
    err: expect.stringContaining('config.toml:2: may_be_away must be true or false'),
  });
});
