import { rm } from 'node:fs/promises';
import { Cluster } from '../../testkit/cluster.ts';
import { run } from '../../testkit/programs.ts';
import { median, type Result } from '../result.ts';
import { until } from '../until.ts';
import { assertSame } from './through.ts';

/** "A look into computational time of replication enabled on a distributed file system": ms with 1, 2 and 3 replicas. */
const sizes = [
  { name: '10 MB', size: '10m', rounds: 9, write: [805, 1_598, 2_389], read: [355, 294, 324] },
  { name: '1 GB', size: '1g', rounds: 3, write: [87_350, 178_922, 270_442], read: [439_820, 432_008, 460_183] },
] as const;
const names = ['ant', 'bee', 'cat'];

/** Milliseconds that fio takes for one sequential pass in blocks of 4 KiB. */
async function fio(directory: string, kind: 'read' | 'write', size: string): Promise<number> {
  const args = [`--directory=${directory}`, '--filename=fio', `--rw=${kind}`, `--size=${size}`];
  const out = await run('fio', [
    '--name=pass',
    '--bs=4k',
    '--ioengine=psync',
    '--output-format=json',
    '--refill_buffers',
    ...args,
  ]);
  const { jobs } = JSON.parse(out) as { jobs: { job_runtime: number }[] };
  return jobs[0]?.job_runtime ?? 0;
}

/** The tables of the GlusterFS study: what a writer and a reader wait, with 1, 2 and 3 members. Nothing if fio is not installed. */
export async function fioPasses(directory: string): Promise<Result[]> {
  try {
    await run('fio', ['--version']);
  } catch {
    process.stderr.write('Left out: fio is not installed (on Debian: apt-get install -y fio).\n');
    return [];
  }
  const results: Result[] = [];
  const ofOne = new Map<string, number>();
  for (const count of [1, 2, 3]) {
    const cluster = await Cluster.start(names.slice(0, count), { directory });
    try {
      const [ant] = cluster.members;
      if (ant === undefined) return results;
      for (const { name, size, rounds, ...theirs } of sizes) {
        const times = { write: [] as number[], read: [] as number[] };
        for (let round = 0; round < rounds; round++) {
          const { operations } = await ant.status();
          times.write.push(await fio(ant.folder, 'write', size));
          await until([ant], (status) => status.operations > operations && status.synchronised);
          await assertSame(cluster.members);
          times.read.push(await fio(ant.folder, 'read', size));
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
