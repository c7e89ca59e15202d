import type { Member } from '../../testkit/member.ts';
import { flush, timed, treeHash } from '../tree.ts';
import { until } from '../until.ts';

export type Trio = readonly [Member, Member, Member];

/** The time from a change in ant's folder until both peers hold it. Then checks that the trees are equal. */
export async function throughLockstep(members: Trio, change: () => Promise<unknown>): Promise<number> {
  const [ant, ...peers] = members;
  const before = (await ant.status()).operations;
  await flush();
  const startMs = performance.now();
  await change();
  // The peers are complete when they hold everything that ant has journaled, and ant has nothing left to journal.
  await until([ant], (status) => status.operations > before && status.synchronised);
  const elapsedMs = performance.now() - startMs;
  const hashes = await Promise.all(members.map((member) => treeHash(member.folder)));
  if (new Set(hashes).size !== 1) throw new Error(`the trees of ${peers.map(({ name }) => name).join(' and ')} differ`);
  return elapsedMs;
}

/** The time that a copying program takes to bring a change to two plain folders. */
export async function throughProgram(
  program: 'cp' | 'rsync',
  source: string,
  targets: readonly string[],
): Promise<number> {
  let sumMs = 0;
  for (const target of targets) {
    sumMs +=
      program === 'cp'
        ? await timed('cp', '-a', `${source}/.`, target)
        : await timed('rsync', '-a', '--delete', `${source}/`, `${target}/`);
  }
  return sumMs;
}
