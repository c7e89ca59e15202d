import { randomBytes } from 'node:crypto';
import { open, readdir, readFile, rename, stat, truncate, writeFile } from 'node:fs/promises';
import { blocksInFlightPerSourceMax } from '@lockstep/shared';
import { expect, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import type { Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;

/** Writes bytes in place. */
async function overwrite(path: string, bytes: Uint8Array, position: number): Promise<void> {
  const file = await open(path, 'r+');
  try {
    await file.write(bytes, 0, bytes.length, position);
  } finally {
    await file.close();
  }
}

const receivedBytes = (member: Member) => member.metric('lockstep_peer_received_bytes_total');

test('[CT17] of a large file that was changed in place, each member receives only the blocks that changed', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cat']);
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => cluster.member(name)) as [Member, Member, Member];
  await ant.put('image', randomBytes(64 * mebibyte));
  await cluster.settled();
  const before = await Promise.all([bee, cat].map(receivedBytes));

  await overwrite(ant.path('image'), randomBytes(4_096), 20 * mebibyte + 123);
  await cluster.settled();
  await writeFile(ant.path('image'), randomBytes(1_000), { flag: 'a' });
  await cluster.settled();
  const expected = await readFile(ant.path('image'));
  for (const [index, member] of [bee, cat].entries()) {
    expect((await readFile(member.path('image'))).equals(expected)).toBe(true);
    expect((await receivedBytes(member)) - (before[index] ?? 0)).toBe(mebibyte + 1_000);
    expect(await member.metric('lockstep_reused_bytes_total')).toBe((63 + 64) * mebibyte);
  }
  await cluster.verified();
});

test('[CT18] a file with holes arrives at once, is as large everywhere, and takes no more space', async () => {
  const cluster = await startCluster(['ant', 'bee']);
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  const text = randomBytes(4_096);
  const outside = `${ant.folder}.image`;
  await writeFile(outside, '');
  await truncate(outside, 512 * mebibyte);
  await overwrite(outside, text, 100 * mebibyte + 4_096);
  await rename(outside, ant.path('disk.img'));
  await cluster.settled();
  const { size, blocks } = await stat(bee.path('disk.img'));
  expect(size).toBe(512 * mebibyte);
  expect(blocks * 512).toBeLessThan(mebibyte);
  expect(await receivedBytes(bee)).toBeLessThanOrEqual(2 * mebibyte);
  const file = await open(bee.path('disk.img'));
  const { buffer } = await file.read(Buffer.alloc(4_096), 0, 4_096, 100 * mebibyte + 4_096);
  await file.close();
  expect(buffer.equals(text)).toBe(true);
  await cluster.verified();
});

test('[CT19] a member that is killed while it receives a large file goes on with the blocks that it has', async () => {
  const cluster = await startCluster(['ant', 'bee'], { proxied: true });
  const [ant, bee] = [cluster.member('ant'), cluster.member('bee')];
  cluster.shapes('bee', { bytesPerSecond: 4_000_000 });
  const bytes = randomBytes(48 * mebibyte);
  await ant.put('film', bytes);
  const here = async () => (await receivedBytes(bee)) / mebibyte;
  await eventually(async () => expect(await here()).toBeGreaterThan(20), { timeoutMs: 60_000 });
  await bee.kill();
  await bee.restart();
  await cluster.settled();
  expect((await readFile(bee.path('film'))).equals(bytes)).toBe(true);
  // The blocks that were in flight come again.
  expect(await here()).toBeLessThan(48 - 20 + blocksInFlightPerSourceMax);
  expect(await readdir(bee.state('staging'))).toEqual([]);
});
