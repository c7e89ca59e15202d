import { randomBytes } from 'node:crypto';
import { open, stat, truncate } from 'node:fs/promises';
import type { Member } from '../../testkit/member.ts';
import type { Bound, Result } from '../result.ts';
import type { Spent } from '../spent.ts';
import { makeLargeFile, timed } from '../tree.ts';
import { type Trio, throughLockstep } from './through.ts';

const gibibytes = 8;
const mebibyte = 1_048_576;
const sampleMs = 100;
/** The buffers of docs/SPEC.md CT27, their rims, and what V8 adds while it is busy. */
const growthMiBMax = 80;

const atMost = (limit: number): { target: Bound; goal: Bound } => ({
  target: { atMost: limit },
  goal: { atMost: limit },
});

/** Measures the cost of `work`, and meanwhile the highest resident memory of a member and its largest growth, in MiB. */
export async function watched(
  members: Trio,
  work: () => Promise<Spent>,
): Promise<{ spent: Spent; grownMiB: number; highestMiB: number }> {
  const memories = () => Promise.all(members.map(async (member) => (await member.usage()).memoryMiB));
  const before = await memories();
  let [grownMiB, highestMiB] = [0, 0];
  const timer = setInterval(async () => {
    const now = await memories();
    highestMiB = Math.max(highestMiB, ...now);
    grownMiB = Math.max(grownMiB, ...now.map((memory, index) => memory - (before[index] ?? 0)));
  }, sampleMs);
  try {
    return { spent: await work(), grownMiB, highestMiB };
  } finally {
    clearInterval(timer);
  }
}

/** A disk image of 8 GiB with 4 KiB of data in its middle. */
async function makeImage(path: string): Promise<void> {
  const file = await open(path, 'w');
  await truncate(path, gibibytes * 1_024 * mebibyte);
  await file.write(randomBytes(4_096), 0, 4_096, 512 * gibibytes * mebibyte);
  await file.close();
}

const occupiedMiB = async (member: Member, name: string): Promise<number> =>
  ((await stat(member.path(name))).blocks * 512) / mebibyte;

/** Memory and time for a file of 8 GiB, and for as large a disk image of holes; the disk that the image takes on each peer. */
export async function hugeFiles(members: Trio): Promise<Result[]> {
  const [ant, ...peers] = members;
  // The first transfer makes the buffers and starts the workers.
  await throughLockstep(members, () => makeLargeFile(ant.path('first'), 64));
  const full = await watched(members, () =>
    throughLockstep(members, () => makeLargeFile(ant.path('full'), gibibytes * 1_024)),
  );
  await timed('rm', ant.path('full'));
  const image = await watched(members, () => throughLockstep(members, () => makeImage(ant.path('image'))));
  const results: Result[] = [];
  for (const [name, { spent, grownMiB }] of [
    ['file of 8 GiB', full],
    ['disk image of 8 GiB with 4 KiB of data', image],
  ] as const) {
    results.push({
      name: `${name}, highest growth of an agent's memory`,
      unit: 'MiB',
      lockstep: [grownMiB],
      ...atMost(growthMiBMax),
      note: `arrived after ${(spent.ms / 1_000).toFixed(1)} s, with the time to write it`,
    });
  }
  results.push({
    name: 'disk that the image takes on each peer',
    unit: 'MiB',
    lockstep: await Promise.all(peers.map((peer) => occupiedMiB(peer, 'image'))),
    ...atMost(1),
  });
  return results;
}
