import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { Load } from '../../testkit/load/load.ts';
import { randomFrom } from '../../testkit/load/random-user.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const churnMs = 60_000;
const names = ['ant', 'bee', 'cat', 'dan', 'eve'] as const;

async function work(cluster: Cluster, load: Load, random: () => number): Promise<void> {
  const untilMs = Date.now() + churnMs;
  let failed = false;
  const repeat = async (body: () => Promise<void>): Promise<void> => {
    try {
      while (!failed && Date.now() < untilMs) await body();
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  let kills = 0;
  const killing = repeat(async () => {
    const member = cluster.members[Math.floor(random() * cluster.members.length)];
    await pause(random() * 1_500);
    await member?.kill();
    kills++;
    await pause(random() * 1_000);
    await member?.start({ ready: false });
  });
  const reading = repeat(async () => {
    expect(load.fault()).toBeUndefined();
    await pause(20);
  });
  load.start();
  const ends = await Promise.allSettled([killing, reading]);
  await load.stop();
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  expect(kills).toBeGreaterThan(churnMs / 5_000);
}

/** What each member journaled at some names below `gone`, for a failure. */
async function story(cluster: Cluster, names: readonly string[]): Promise<string> {
  const pages = names.flatMap((name) =>
    cluster.members.map(async (member) => ({ at: member.name, page: await member.get(`/ops?path=gone/${name}`) })),
  );
  return JSON.stringify(await Promise.all(pages));
}

test('[MG3] five members with random work and SIGKILLs for a minute end equal, and nothing that was kept is lost', async () => {
  const seed = Number(process.env.LOCKSTEP_CHURN_SEED ?? Math.floor(Math.random() * 1e9));
  console.log(`LOCKSTEP_CHURN_SEED=${seed}`);
  const random = randomFrom(seed);
  const cluster = await startCluster(names);
  const places = cluster.members.map((member) => ({ member, outside: join(cluster.root, `outside-${member.name}`) }));
  const load = new Load(places, '', random);
  await work(cluster, load, random);

  for (const member of cluster.members) if (!member.running) await member.start();
  await cluster.connected();
  const tree = await cluster.settled(cluster.members, 120_000);
  await cluster.verified();

  expect(load.lost(cluster.member('ant'), tree)).toEqual([]);
  const returned = load.returned(tree);
  expect(returned, await story(cluster, returned)).toEqual([]);
  expect(load.vanished).toEqual([]);
  expect(load.fault()).toBeUndefined();
  for (const member of cluster.members) {
    await vi.waitFor(
      () => expect(readdirSync(member.state('staging')), `left in staging on ${member.name}`).toEqual([]),
      5_000,
    );
  }
}, 300_000);
