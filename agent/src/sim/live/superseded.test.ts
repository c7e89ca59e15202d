import { expect, onTestFinished, test, vi } from 'vitest';
import { ContentServer } from '../../sync/transfer/content-server.ts';
import { virtualContent } from '../disk/content.ts';
import type { Machine } from '../world/machine.ts';
import { LiveCluster } from './live-cluster.ts';

const mebibyte = 1_048_576;
const others = ['ant', 'bee'];
const newBytes = 4 * mebibyte;

const receivedBytes = ({ engine }: Machine): number =>
  engine?.peers.all().reduce((sum, { received }) => sum + received.total, 0) ?? 0;

/** Replaces a film while it leaves its origin, which has a limit. Resolves with the blocks of the old one that come to both others after they know. */
async function replaceFilm(): Promise<number> {
  const failures: string[] = [];
  const cluster = new LiveCluster({ names: ['origin', ...others], failed: (what) => failures.push(what) });
  onTestFinished(() => cluster.close());
  for (const machine of cluster.machines) machine.start();
  await cluster.until(() => cluster.machines.every(({ engine }) => engine?.peers.ready().length === others.length));
  cluster.machine('origin').engine?.context.limits.send.limit([{ bytesPerSecond: 262_144 }]);
  const receivers = others.map((name) => cluster.machine(name));
  cluster.user('origin').write('film', 'old', virtualContent('old', 64 * mebibyte));
  await cluster.until(() => receivers.every((machine) => receivedBytes(machine) > 0), 600_000);
  const next = virtualContent('new', newBytes);
  cluster.user('origin').write('film', 'new', next);
  await cluster.until(() => receivers.every(({ journal }) => journal.heads.at('film')[0]?.content === next.id));
  const before = receivers.map(receivedBytes);
  await cluster.until(() => receivers.every(({ journal }) => journal.disk.at('film')?.content === next.id), 600_000);
  expect(failures).toEqual([]);
  const after = receivers.map(receivedBytes);
  return after.reduce((sum, bytes, index) => sum + bytes - (before[index] ?? 0) - newBytes, 0) / mebibyte;
}

test('[CT10] no block of a version that was replaced leaves once its receivers know; without their withdrawal two leave to each', async () => {
  expect(await replaceFilm()).toBe(0);
  vi.spyOn(ContentServer.prototype, 'withdraw').mockImplementation(() => undefined);
  onTestFinished(() => void vi.restoreAllMocks());
  expect(await replaceFilm()).toBe(2 * others.length);
});
