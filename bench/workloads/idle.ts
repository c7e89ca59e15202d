import { join } from 'node:path';
import type { Member } from '../../testkit/member.ts';
import type { Result } from '../result.ts';
import { makeSmallFiles } from '../tree.ts';
import { until } from '../until.ts';

const settleMs = 60_000;
const idleMs = 60_000;

/** Resident memory of an agent with 10,000 files and with 100,000, and its processor time at rest. */
export async function idle(members: readonly [Member, Member, Member]): Promise<Result[]> {
  const [ant, bee] = members;
  const results: Result[] = [];
  let made = (await ant.status()).files;
  for (const [count, target, goal] of [
    [10_000, 130, 110],
    [100_000, 180, 160],
  ] as const) {
    if (made < count) await makeSmallFiles(join(ant.folder, `idle-${count}`), count - made, 1024);
    made = Math.max(made, count);
    await until(members, (status) => status.files >= made && status.synchronised);
    const usage = await Promise.all([ant.usage(), bee.usage()]);
    results.push({
      name: `memory of an agent with ${count.toLocaleString('en')} files`,
      unit: 'MiB',
      lockstep: usage.map(({ memoryMiB }) => memoryMiB),
      target: { atMost: target },
      goal: { atMost: goal },
      note: 'resident, right after the files arrived; writer and receiver',
    });
  }
  // The agents are not idle yet: the new files have started work such as another scan of everything.
  await new Promise((resolve) => setTimeout(resolve, settleMs));
  const before = await Promise.all(members.map((member) => member.usage()));
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const after = await Promise.all(members.map((member) => member.usage()));
  results.push({
    name: 'idle processor time with 100,000 files',
    unit: '%',
    lockstep: after.map((usage, index) => ((usage.cpuMs - (before[index]?.cpuMs ?? 0)) / idleMs) * 100),
    target: { atMost: 1 },
    goal: { atMost: 0.3 },
    note: `of one processor, over ${idleMs / 1000} s, for each member`,
  });
  return results;
}
