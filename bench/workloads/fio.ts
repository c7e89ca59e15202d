import { rm } from 'node:fs/promises';
import { Cluster } from '../../testkit/cluster.ts';
import { run } from '../../testkit/programs.ts';
import { median, type Result } from '../result.ts';
import { until } from '../until.ts';
import { assertSame } from './through.ts';

/** "A look into computational time of replication enabled on a distributed file system": ms with 1, 2 and 3 replicas. */
export const studySizes = [
  { name: '10 MB', mebibytes: 10, rounds: 9, write: [805, 1_598, 2_389], read: [355, 294, 324] },
  { name: '1 GB', mebibytes: 1_024, rounds: 3, write: [87_350, 178_922, 270_442], read: [439_820, 432_008, 460_183] },
] as const;
const names = ['ant', 'bee', 'cat'];

/** One sequential pass over the file `fio` of a directory. */
interface Pass {
  readonly directory: string;
  readonly kind: 'read' | 'write';
  readonly mebibytes: number;
  /** The size of a block; 4 KiB by default. */
  readonly block?: string;
  /** Further arguments. */
  readonly more?: readonly string[];
}

/** Milliseconds that fio takes for one pass. */
export async function fio({ directory, kind, mebibytes, block = '4k', more = [] }: Pass): Promise<number> {
  const args = [`--directory=${directory}`, '--filename=fio', `--rw=${kind}`, `--size=${mebibytes}m`, `--bs=${block}`];
  const out = await run('fio', [
    '--name=pass',
    '--ioengine=psync',
    '--output-format=json',
    '--refill_buffers',
    ...args,
    ...more,
  ]);
  const { jobs } = JSON.parse(out) as { jobs: { job_runtime: number }[] };
  return jobs[0]?.job_runtime ?? 0;
}

/** False, with a sentence on the standard error, if fio is not installed. */
export async function hasFio(): Promise<boolean> {
  return run('fio', ['--version']).then(
    () => true,
    () => {
      process.stderr.write('Left out: fio is not installed (on Debian: apt-get install -y fio).\n');
      return false;
    },
  );
}

/** The tables of the GlusterFS study: what a writer and a reader wait, with 1, 2 and 3 members. Nothing if fio is not installed. */
export async function fioPasses(directory: string): Promise<Result[]> {
  if (!(await hasFio())) return [];
  const results: Result[] = [];
  const ofOne = new Map<string, number>();
  for (const count of [1, 2, 3]) {
    const cluster = await Cluster.start(names.slice(0, count), { directory });
    try {
      const [ant] = cluster.members;
      if (ant === undefined) return results;
      for (const { name, mebibytes, rounds, ...theirs } of studySizes) {
        const times = { write: [] as number[], read: [] as number[] };
        for (let round = 0; round < rounds; round++) {
          const { operations } = await ant.status();
          times.write.push(await fio({ directory: ant.folder, kind: 'write', mebibytes }));
          await until([ant], (status) => status.operations > operations && status.synchronised);
          await assertSame(cluster.members);
          times.read.push(await fio({ directory: ant.folder, kind: 'read', mebibytes }));
          await rm(ant.path('fio'));
          await until([ant], (status) => status.files === 0 && status.synchronised);
        }
        for (const kind of ['write', 'read'] as const) {
          const key = `${name} ${kind}`;
          if (count === 1) ofOne.set(key, median(times[kind]));
          const theirMs = theirs[kind][count - 1] ?? 0;
          results.push({
            name: `fio, ${name} ${kind === 'write' ? 'written' : 'read'} in 4 KiB, ${count} ${count === 1 ? 'member' : 'members'}`,
            unit: 'ms',
            lockstep: times[kind],
            // The writer must not wait for the others.
            target: { atMost: count === 1 || kind === 'read' ? theirMs : 1.1 * (ofOne.get(key) ?? 0) },
            goal: { atMost: count === 1 || kind === 'read' ? theirMs : (ofOne.get(key) ?? 0) },
            note: `GlusterFS: ${theirMs} ms`,
          });
        }
      }
    } finally {
      await cluster.close();
    }
  }
  return results;
}
