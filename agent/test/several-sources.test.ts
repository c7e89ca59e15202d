import { randomBytes } from 'node:crypto';
import { appendFile, readdir, readFile } from 'node:fs/promises';
import { transfersSchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import type { Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;

const receivedMebibytes = async (member: Member) =>
  (await member.metric('lockstep_peer_received_bytes_total')) / mebibyte;
const sentMebibytes = async (member: Member) => (await member.metric('lockstep_peer_sent_bytes_total')) / mebibyte;

test('[CT21] a new large file leaves a slow origin about once, and its peers get the rest from each other', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cat', 'dog', 'eel']);
  const ant = cluster.member('ant');
  await ant.stop();
  await appendFile(ant.state('config.toml'), '\nsend_limit = "4 MiB/s"\n');
  await ant.start();
  await cluster.connected();
  const bytes = randomBytes(48 * mebibyte);
  await ant.put('film', bytes);
  await cluster.settled();
  for (const member of cluster.members) expect((await readFile(member.path('film'))).equals(bytes)).toBe(true);
  // Not four copies. Two peers may request a block before either knows that the other one has, and more if this machine is busy.
  expect(await sentMebibytes(ant)).toBeLessThan(2 * 48);
  for (const member of cluster.members) expect(await readdir(member.state('staging'))).toEqual([]);
});

test('[CT22] [API7] sources that are killed and that stall in the middle of a large file are replaced, and nothing comes twice', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cat'], { proxied: true });
  const bytes = randomBytes(64 * mebibyte);
  await cluster.member('ant').put('film', bytes);
  await cluster.settled();
  const dog = await cluster.add('dog', { up: false });
  cluster.shapes('dog', { bytesPerSecond: 4_000_000, delayMs: 5 });
  await dog.start({ ready: false });
  const untilHere = (mebibytes: number) =>
    eventually(async () => expect(await receivedMebibytes(dog)).toBeGreaterThanOrEqual(mebibytes), {
      timeoutMs: 60_000,
    });
  await untilHere(16);
  const names = cluster.members.filter((member) => member !== dog).map((member) => member.name);
  const from = await Promise.all(names.map((name) => sentMebibytes(cluster.member(name))));
  // All three send, and are named.
  for (const mebibytes of from) expect(mebibytes).toBeGreaterThan(1);
  await eventually(async () => {
    const { transfers } = transfersSchema.parse(await dog.get('/transfers'));
    expect(transfers[0]?.sources.map(({ name }) => name).sort()).toEqual(names);
  });
  await cluster.member('bee').kill();
  await untilHere(32);
  cluster.member('cat').signal('SIGSTOP');
  await untilHere(64);
  await eventually(async () => expect((await dog.status()).pending).toBe(0), { timeoutMs: 60_000 });
  expect((await readFile(dog.path('film'))).equals(bytes)).toBe(true);
  // Of each lost source, what was on its way.
  expect(await receivedMebibytes(dog)).toBeLessThan(64 + 2 * 4);
  cluster.member('cat').signal('SIGCONT');
  await cluster.settled();
  await cluster.verified();
});
