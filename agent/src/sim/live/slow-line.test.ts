import { expect, onTestFinished, test } from 'vitest';
import { virtualContent } from '../disk/content.ts';
import { Uplink } from '../network/uplink.ts';
import { LiveCluster } from './live-cluster.ts';

const mebibyte = 1_048_576;

/** Writes a film to a machine that sends `bytesPerMs` to all others together. Resolves when each has it, with the time and the copies that left. */
async function spread({ others, bytesPerMs, bytes }: { others: number; bytesPerMs: number; bytes: number }) {
  const uplink = new Uplink(bytesPerMs);
  const failures: string[] = [];
  const cluster = new LiveCluster({
    names: ['origin', ...Array.from({ length: others }, (_, index) => `other-${index}`)],
    uplink: (name) => (name === 'origin' ? uplink : undefined),
    failed: (what) => failures.push(what),
  });
  onTestFinished(() => cluster.close());
  for (const machine of cluster.machines) machine.start();
  await cluster.until(() => cluster.machines.every(({ engine }) => engine?.peers.ready().length === others));
  const { peers } = cluster.machine('origin').engine ?? {};
  const startedMs = cluster.scheduler.nowMs;
  cluster.user('origin').write('film', 'film', virtualContent('film', bytes));
  const hasAll = () => cluster.machines.every(({ journal }) => journal.totals.counts().disk.files === 1);
  await cluster.until(hasAll, 3_600_000);
  expect(failures).toEqual([]);
  const sentBytes = peers?.all().reduce((sum, { sent }) => sum + sent.total, 0) ?? 0;
  return { seconds: (cluster.scheduler.nowMs - startedMs) / 1_000, copies: sentBytes / bytes };
}

test('[CT21] over a line of 2 Mbit/s a film of 16 MiB comes to eleven others in the time of one copy', async () => {
  const { seconds, copies } = await spread({ others: 11, bytesPerMs: 256, bytes: 16 * mebibyte });
  expect(seconds).toBeLessThan(70);
  expect(copies).toBeLessThan(3);
});

test('[CT5] a line on which a block takes minutes is no silence', async () => {
  const { seconds, copies } = await spread({ others: 1, bytesPerMs: 5, bytes: 9 * mebibyte });
  expect(seconds).toBeLessThan(2_000);
  expect(copies).toBe(1);
});
