import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startCluster } from './cluster.ts';
import { describeMachine, drawChart, formatTable } from './report.ts';
import type { Result } from './result.ts';
import { largeFile, smallFiles } from './workloads/bulk.ts';
import { idle } from './workloads/idle.ts';
import { latency } from './workloads/latency.ts';
import { newcomer } from './workloads/newcomer.ts';

const names = ['latency', 'small', 'large', 'newcomer', 'idle'] as const;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    repetitions: { type: 'string', default: '3' },
    directory: { type: 'string', default: tmpdir() },
  },
});

/** Runs the workloads, each on a cluster of its own, prints the table and writes JSON and a chart into bench/results. */
async function main(): Promise<void> {
  const repetitions = Number(values.repetitions);
  const wanted = values.only ?? names;
  const unknown = wanted.filter((name) => !names.includes(name as (typeof names)[number]));
  if (unknown.length > 0 || !(repetitions >= 1)) {
    throw new Error(`usage: npm run bench -- [--only ${names.join('|')}]… [--repetitions N] [--directory DIR]`);
  }
  await mkdir(values.directory, { recursive: true });
  const machine = describeMachine(values.directory);
  const results: Result[] = [];
  for (const name of wanted) {
    const root = await mkdtemp(join(values.directory, 'lockstep-bench-'));
    const scratch = join(root, 'scratch');
    await mkdir(scratch);
    const members = await startCluster(root);
    try {
      process.stderr.write(`${name} …\n`);
      if (name === 'latency') results.push(...(await latency(members, scratch)));
      if (name === 'small') results.push(...(await smallFiles(members, scratch, repetitions)));
      if (name === 'large') results.push(...(await largeFile(members, scratch, repetitions)));
      if (name === 'newcomer') results.push(await newcomer(members, root, scratch, repetitions));
      if (name === 'idle') results.push(...(await idle(members)));
    } finally {
      await Promise.all(members.map((member) => member.stop()));
      await rm(root, { recursive: true, force: true });
    }
  }
  const out = fileURLToPath(new URL('../results/', import.meta.url));
  await mkdir(out, { recursive: true });
  const measured = { at: new Date().toISOString(), machine, repetitions, results };
  await writeFile(join(out, 'bench.json'), `${JSON.stringify(measured, null, 2)}\n`);
  await writeFile(join(out, 'bench.svg'), drawChart(results, machine));
  const { processors, memoryGiB, kernel, fileSystem, node } = machine;
  process.stdout.write(
    `${processors}, ${memoryGiB} GiB, ${fileSystem}, ${kernel}, Node ${node}; medians of ${repetitions}\n\n`,
  );
  process.stdout.write(`${formatTable(results)}\n`);
}

await main();
