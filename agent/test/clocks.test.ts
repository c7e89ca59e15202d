import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { Cluster } from '../../testkit/cluster.ts';
import { ShiftedClock } from '../../testkit/machine/shifted-clock.ts';
import type { Member } from '../../testkit/member.ts';
import { clock } from '../../testkit/scenes/clock.ts';
import { namesOf } from '../../testkit/tree.ts';
import { sceneTest } from '../../testkit/vitest/scene-test.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

/** Adds a member whose clock can be set wrong, and returns a function that sets it, in hours. */
async function addShifted(cluster: Cluster, name: string, hours: number) {
  const clock = new ShiftedClock(join(cluster.root, `clock-of-${name}`));
  clock.set(hours);
  const member = await cluster.add(name, { start: { env: clock.env } });
  return { member, set: (to: number): void => clock.set(to) };
}

/** A member's report about another one's clock. */
const saidOf = (member: Member, name: string) => async (): Promise<string | undefined> =>
  (await member.status()).problems.find((problem) => problem.code === 'clock-skew' && problem.member === name)?.detail;

const patience = { timeout: 20_000, interval: 100 };

const conflictCopies = (member: Member) => namesOf(member.tree()).filter((name) => name.includes('conflict'));

test('[MG5] clocks a day ahead and a day behind decide nothing: the last save wins, and the skew is reported', async () => {
  const cluster = await startCluster(['ant']);
  const ant = cluster.member('ant');
  const { member: bee } = await addShifted(cluster, 'bee', 24);
  const { member: cat } = await addShifted(cluster, 'cat', -24);
  await cluster.connected();
  for (const [round, member] of [bee, cat, ant, cat, bee, cat].entries()) {
    await writeFile(member.path('file'), `round ${round}`);
    await mkdir(member.path(`made-${round}`));
    await cluster.settled();
  }
  expect(await readFile(ant.path('file'), 'utf8')).toBe('round 5');
  expect(conflictCopies(ant)).toEqual([]);
  await vi.waitFor(async () => {
    expect(await saidOf(ant, 'bee')()).toMatch(
      /^The clock of bee is (1 day|23 h) ahead of this one\. .* synchronize both clocks with NTP\.$/,
    );
    expect(await saidOf(ant, 'cat')()).toMatch(
      /^The clock of cat is (1 day|23 h) behind this one\. .* synchronize both clocks with NTP\.$/,
    );
  }, patience);
  await cat.restart();
  await writeFile(bee.path('file'), 'after a restart');
  await cluster.connected();
  await cluster.settled();
  await cluster.verified();
});

test('[MG5] a member whose clock stands before 1970 replicates, and answers', async () => {
  const cluster = await startCluster(['ant']);
  const { member: bee } = await addShifted(cluster, 'bee', -500_000);
  await cluster.connected();
  await writeFile(bee.path('of bee'), 'bee');
  await writeFile(cluster.member('ant').path('of ant'), 'ant');
  await cluster.settled();
  expect(namesOf(bee.tree())).toEqual(['of ant', 'of bee']);
  // The clocks are compared by heartbeats, which may come after the files.
  await vi.waitFor(async () => expect(await bee.problems()).toEqual(['clock-skew']), patience);
});

sceneTest('[JN6]', clock);
