import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { transfersSchema } from '@lockstep/shared/api';
import { expect, test } from 'vitest';
import type { Member } from '../../testkit/member.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

const mebibyte = 1_048_576;

const receivedBytes = (member: Member) => member.metric('lockstep_peer_received_bytes_total');

test('[CT25] [API7] of a large file whose bytes moved, each member receives only what is new', async () => {
  const cluster = await startCluster(['ant', 'bee', 'cat']);
  const [ant, bee, cat] = ['ant', 'bee', 'cat'].map((name) => cluster.member(name)) as [Member, Member, Member];
  const bytes = randomBytes(64 * mebibyte);
  await ant.put('image', bytes);
  await cluster.settled();
  // Bytes are inserted in the middle, and some are removed.
  const edited = Buffer.concat([
    bytes.subarray(0, 30.5 * mebibyte),
    randomBytes(100),
    bytes.subarray(30.5 * mebibyte, 50 * mebibyte),
    bytes.subarray(51.3 * mebibyte),
  ]);
  const versions = [
    Buffer.concat([Buffer.from('x'), bytes]),
    edited,
    // The halves change places.
    Buffer.concat([edited.subarray(32.3 * mebibyte), edited.subarray(0, 32.3 * mebibyte)]),
  ];
  const reusedBytes = async (member: Member) => transfersSchema.parse(await member.get('/transfers')).reused;
  for (const version of versions) {
    const reused = await reusedBytes(bee);
    const before = await Promise.all([bee, cat].map(receivedBytes));
    await ant.put('image', version);
    await cluster.settled();
    for (const [index, member] of [bee, cat].entries()) {
      expect((await readFile(member.path('image'))).equals(version)).toBe(true);
      const received = (await receivedBytes(member)) - (before[index] ?? 0);
      expect(received).toBeGreaterThan(0);
      expect(received).toBeLessThan(256 * 1_024);
    }
    expect((await reusedBytes(bee)) - reused).toBeGreaterThan(version.length - 256 * 1_024);
  }
  await cluster.verified();
});
