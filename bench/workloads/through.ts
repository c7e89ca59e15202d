import type { Member } from '../../testkit/member.ts';
import { metered, type Spent, spentBy } from '../spent.ts';
import { flush, treeHash } from '../tree.ts';
import { until } from '../until.ts';

export type Trio = readonly [Member, Member, Member];

/** The processor time of these agents until now. */
export async function processorMsOf(members: readonly Member[]): Promise<number> {
  const usages = await Promise.all(members.map((member) => member.usage()));
  return usages.reduce((sum, { cpuMs }) => sum + cpuMs, 0);
}

/** Measures a change in the first member's folder until all others hold it. Then checks that the trees are equal. */
export async function throughLockstep(members: readonly Member[], change: () => Promise<unknown>): Promise<Spent> {
  const [ant] = members as readonly [Member];
  const before = (await ant.status()).operations;
  await flush();
  const spent = await metered(
    () => processorMsOf(members),
    async () => {
      await change();
      // The others are complete when they hold everything that ant has journaled, and ant has nothing left to journal.
      await until([ant], (status) => status.operations > before && status.synchronised);
    },
  );
  await assertSame(members);
  return spent;
}

/** Compares the folders of members byte for byte. */
export async function assertSame(members: readonly Member[]): Promise<void> {
  const hashes = await Promise.all(members.map((member) => treeHash(member.folder)));
  if (new Set(hashes).size > 1) throw new Error(`the trees of ${members.map(({ name }) => name).join(' and ')} differ`);
}

/** The command of each program that copies one folder to another. The delta transfer says what would go over a network. */
const copyingPrograms = {
  cp: (source: string, target: string) => ['cp', '-a', `${source}/.`, target] as const,
  rsync: (source: string, target: string) => ['rsync', '-a', '--delete', `${source}/`, `${target}/`] as const,
  rsyncDelta: (source: string, target: string) =>
    ['rsync', '-a', '--no-whole-file', '--stats', '--delete', `${source}/`, `${target}/`] as const,
};

/** Measures how a copying program brings a change, which took `changeMs`, to two plain folders. */
export async function throughProgram(
  program: keyof typeof copyingPrograms,
  source: string,
  targets: readonly string[],
  changeMs = 0,
): Promise<Spent> {
  const sum = { ms: changeMs, processorMs: 0, wireBytes: 0 };
  for (const target of targets) {
    const [command, ...args] = copyingPrograms[program](source, target);
    const { ms, processorMs, said } = await spentBy(command, ...args);
    sum.ms += ms;
    sum.processorMs += processorMs;
    for (const [, bytes = ''] of said.matchAll(/^Total bytes (?:sent|received): ([\d,]+)$/gm)) {
      sum.wireBytes += Number(bytes.replaceAll(',', ''));
    }
  }
  const { wireBytes, ...spent } = sum;
  return wireBytes > 0 ? sum : spent;
}
