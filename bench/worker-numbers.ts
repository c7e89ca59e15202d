import { join } from 'node:path';
import { Cluster } from '../testkit/cluster.ts';
import type { Member } from '../testkit/member.ts';
import type { Result } from './result.ts';
import { Expenses } from './spent.ts';
import { makeLargeFile, makeSmallFiles, remove, timed, useMemory } from './tree.ts';
import { watched } from './workloads/huge.ts';
import { type Trio, throughLockstep } from './workloads/through.ts';

const numbers = [1, 2, 3, 4];

interface Work {
  readonly name: string;
  readonly memoryMiB: number;
  readonly make: (path: string) => Promise<void>;
}

const works: readonly Work[] = [
  { name: '1 GiB', memoryMiB: 3_200, make: (path) => makeLargeFile(path, 1_024) },
  { name: '10,000 files of 4 KiB', memoryMiB: 200, make: (path) => makeSmallFiles(path, 10_000, 4_096) },
];

/**
 * Time, processor time and memory with 1 to 4 worker threads for the work in the folder. Each run has agents of its own. Every second round
 * has the numbers in reverse order, so that other work on the machine meets all of them.
 */
export async function workerNumbers(root: string, scratch: string, repetitions: number): Promise<Result[]> {
  const results: Result[] = [];
  for (const work of works) {
    const template = join(scratch, 'template');
    const expenses = new Map(numbers.map((number) => [number, new Expenses()]));
    const highest = new Map(numbers.map((number) => [number, [] as number[]]));
    for (let round = 0; round < repetitions; round++) {
      await remove(template);
      await work.make(template);
      for (const number of round % 2 === 0 ? numbers : numbers.toReversed()) {
        const start = { env: { LOCKSTEP_WORKERS: String(number) } };
        const cluster = await Cluster.start(['ant', 'bee', 'cat'], { directory: root, start });
        try {
          const members = cluster.members as readonly Member[] as Trio;
          await useMemory(scratch, work.memoryMiB);
          const { spent, highestMiB } = await watched(members, () =>
            throughLockstep(members, () => timed('cp', '-a', template, members[0].path('copy'))),
          );
          expenses.get(number)?.add('lockstep', spent);
          highest.get(number)?.push(highestMiB);
        } finally {
          await cluster.close();
        }
      }
    }
    const bound = { target: { atMost: 60_000 }, goal: { atMost: 30_000 } };
    for (const [number, measured] of expenses) {
      const name = `${work.name}, ${number} ${number === 1 ? 'worker' : 'workers'}`;
      results.push({ name, unit: 'ms', ...measured.result, ...bound });
      results.push({
        name: `${name}, highest memory of an agent`,
        unit: 'MiB',
        lockstep: highest.get(number) ?? [],
        target: { atMost: 400 },
        goal: { atMost: 250 },
      });
    }
  }
  return results;
}
