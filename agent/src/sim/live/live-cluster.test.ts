import { expect, onTestFinished, test } from 'vitest';
import { contentOfText } from '../disk/content.ts';
import { LiveCluster } from './live-cluster.ts';

async function openTwo(): Promise<LiveCluster> {
  const failures: string[] = [];
  const cluster = new LiveCluster({ names: ['ant', 'bee'], failed: (what) => failures.push(what) });
  onTestFinished(async () => {
    await cluster.close();
    expect(failures).toEqual([]);
  });
  for (const machine of cluster.machines) machine.start();
  await cluster.until(() => cluster.machines.every(({ engine }) => engine?.peers.ready().length === 1));
  return cluster;
}

test('before `begin`, time only passes on request', async () => {
  const cluster = await openTwo();
  const { nowMs } = cluster.scheduler;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(cluster.scheduler.nowMs).toBe(nowMs);
  await expect(cluster.until(() => false, 5_000)).rejects.toThrow('5000 simulated milliseconds');
  expect(cluster.scheduler.nowMs).toBe(nowMs + 5_000);
});

test('after `begin`, members run in real time, and their clocks show the time of day', async () => {
  const cluster = await openTwo();
  cluster.begin();
  cluster.user('ant').write('letter.txt', 'letter', contentOfText('Dear Ms Lindqvist'));
  await expect.poll(() => cluster.machine('bee').journal.totals.counts().bytes, { timeout: 20_000 }).toBe(17);
  expect(Math.abs(cluster.machine('bee').wall.preciseMs() - Date.now())).toBeLessThan(5_000);
});
