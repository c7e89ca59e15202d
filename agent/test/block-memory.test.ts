import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;

/** Collections of the whole heap so far. */
const majorCollections = (member: Member) => member.metric('nodejs_gc_duration_seconds_count', 'kind="major"');

test('[CT27] the memory for a large file does not grow with it, and its blocks are no garbage', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  // The first transfer makes the buffers, and starts the second worker.
  await ant.put('warm', randomBytes(12 * mebibyte));
  await cluster.settled();
  const before = await Promise.all([ant, bee].map((member) => member.usage()));
  const collected = await majorCollections(bee);
  let highest = 0;
  const watch = setInterval(async () => {
    const now = await Promise.all([ant, bee].map((member) => member.usage()));
    highest = Math.max(highest, ...now.map(({ memoryMiB }, index) => memoryMiB - (before[index]?.memoryMiB ?? 0)));
  }, 100);
  await ant.put('film', randomBytes(160 * mebibyte));
  await cluster.settled();
  clearInterval(watch);
  expect(highest).toBeLessThan(80);
  // Of buffers of their own, each 20 MiB would cause one: eight.
  expect((await majorCollections(bee)) - collected).toBeLessThan(4);
  await cluster.verified();
});
