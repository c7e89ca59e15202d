import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../../testkit/cluster.ts';
import type { Member } from '../../testkit/member.ts';
import type { Result } from '../result.ts';
import { makeLargeFile, makeSmallFiles, remove, timed, treeHash, useMemory } from '../tree.ts';
import { until } from '../until.ts';

/** A copy of everything. */
const memoryMiB = 1_200;

/** The time that a newcomer to a cluster with 10,000 files and 1 GiB takes from its start until it holds everything. */
export async function newcomer(
  cluster: Cluster,
  [ant, bee, cat]: readonly [Member, Member, Member],
  scratch: string,
  repetitions: number,
): Promise<Result> {
  await makeSmallFiles(join(ant.folder, 'small'), 10_000, 4096);
  await makeLargeFile(join(ant.folder, 'large'), 1024);
  await until([ant, bee, cat], (status) => status.files >= 10_001 && status.synchronised);
  const result: Result & { lockstep: number[]; cp: number[]; rsync: number[] } = {
    name: 'newcomer with 10,000 files and 1 GiB',
    unit: 'ms',
    lockstep: [],
    cp: [],
    rsync: [],
    target: { timesRsync: 1.5 },
    goal: { timesRsync: 1.2 },
  };
  for (let round = 0; round < repetitions; round++) {
    const dog = await cluster.add(`dog${round}`, { up: false, peers: ['ant'] });
    await useMemory(scratch, memoryMiB);
    const startMs = performance.now();
    await dog.start();
    await until([dog], (status) => status.files >= 10_001 && status.pending === 0 && status.synchronised);
    result.lockstep.push(performance.now() - startMs);
    if ((await treeHash(dog.folder)) !== (await treeHash(ant.folder))) throw new Error('the newcomer differs');
    await fetchLeave(dog);
    for (const program of ['cp', 'rsync'] as const) {
      const target = join(scratch, 'newcomer');
      await remove(target);
      await mkdir(target);
      await useMemory(scratch, memoryMiB);
      const copyMs =
        program === 'cp'
          ? await timed('cp', '-a', join(ant.folder, 'small'), join(ant.folder, 'large'), target)
          : await timed('rsync', '-a', '--exclude', '.lockstep', `${ant.folder}/`, `${target}/`);
      result[program].push(copyMs);
    }
  }
  return result;
}

async function fetchLeave(member: Member): Promise<void> {
  await member.stop();
  await remove(member.folder);
}
