import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { Cluster } from './_util/cluster.ts';
import type { Member } from './_util/member.ts';
import { RandomUser, randomFrom, wholeFault, wholePrefix } from './_util/random-user.ts';
import { namesOf } from './_util/tree.ts';
import { startCluster } from './_util/use-cluster.ts';

const churnMs = 60_000;
const names = ['ant', 'bee', 'cat', 'dan', 'eve'] as const;

/** What stands below the folder and is a whole file, read once; a fault of any of them. */
function faultOfWholeFiles(member: Member): string | undefined {
  for (const directory of ['', 'a', 'b']) {
    const path = member.path(directory);
    let found: string[] = [];
    try {
      found = readdirSync(path).filter((name) => name.startsWith(wholePrefix));
    } catch {
      // A user put something else there.
    }
    for (const name of found) {
      try {
        const fault = wholeFault(readFileSync(join(path, name), 'utf8'));
        if (fault !== undefined) return `${join(path, name)}: ${fault}`;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
    }
  }
  return undefined;
}

async function work(cluster: Cluster, users: readonly RandomUser[], random: () => number): Promise<void> {
  const untilMs = Date.now() + churnMs;
  let failed = false;
  const going = (): boolean => !failed && Date.now() < untilMs;
  const repeat = async (body: () => Promise<void> | void): Promise<void> => {
    try {
      while (going()) await body();
    } catch (error) {
      failed = true;
      throw error;
    }
  };
  const editing = users.map((user) =>
    repeat(async () => {
      user.act();
      await pause(20 + random() * 80);
    }),
  );
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
    for (const member of cluster.members) expect(faultOfWholeFiles(member)).toBeUndefined();
    await pause(20);
  });
  const ends = await Promise.allSettled([...editing, killing, reading]);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  expect(kills).toBeGreaterThan(churnMs / 5_000);
}

test('[MG3] five members with random work and SIGKILLs for a minute end equal, and nothing that was kept is lost', async () => {
  const seed = Number(process.env.LOCKSTEP_CHURN_SEED ?? Math.floor(Math.random() * 1e9));
  console.log(`LOCKSTEP_CHURN_SEED=${seed}`);
  const random = randomFrom(seed);
  const cluster = await startCluster(names);
  const users = cluster.members.map(
    ({ name, folder }) =>
      new RandomUser(folder, name, join(cluster.root, `outside-${name}`), randomFrom(random() * 2 ** 32)),
  );
  await work(cluster, users, random);

  for (const member of cluster.members) if (!member.running) await member.start();
  await cluster.connected();
  const tree = await cluster.settled(cluster.members, 120_000);
  await cluster.verified();

  const ant = cluster.member('ant');
  const files = namesOf(tree).filter((name) => name.startsWith('keep/') && lstatSync(ant.path(name)).isFile());
  const texts = new Set(files.map((name) => readFileSync(ant.path(name), 'utf8')));
  const lost = users.flatMap(({ kept }) => kept).filter((text) => !texts.has(text));
  expect(lost.map((text) => text.slice(0, 40))).toEqual([]);
  for (const member of cluster.members) {
    expect(faultOfWholeFiles(member)).toBeUndefined();
    await vi.waitFor(
      () => expect(readdirSync(member.state('staging')), `left in staging on ${member.name}`).toEqual([]),
      5_000,
    );
  }
}, 300_000);
