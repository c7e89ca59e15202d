import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { repositoryRoot } from '../testkit/repository.ts';
import { drawGrowth, formatGrowth, type Point } from './growth-chart.ts';
import { describeMachine, drawChart, formatCosts, formatTable } from './report.ts';
import type { Result } from './result.ts';
import { longWorkloads, workloads } from './workloads/all.ts';
import { growthByFiles, growthByMembers } from './workloads/growth.ts';

/** How costs grow. They take long, and run only if they are named. */
const growths: Readonly<Record<string, (directory: string) => Promise<readonly Point[]>>> = {
  files: growthByFiles,
  members: growthByMembers,
};

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    repetitions: { type: 'string', default: '3' },
    directory: { type: 'string', default: tmpdir() },
  },
});

/** Calls `work` with a new directory and one in it for what is not replicated; removes both afterwards. */
async function inScratch<Measured>(work: (root: string, scratch: string) => Promise<Measured>): Promise<Measured> {
  const root = await mkdtemp(join(values.directory, 'lockstep-bench-'));
  try {
    const scratch = join(root, 'scratch');
    await mkdir(scratch);
    return await work(root, scratch);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Runs the workloads, each on its own cluster, prints the tables and writes JSON and charts into bench/results. */
async function main(): Promise<void> {
  const repetitions = Number(values.repetitions);
  const names = [workloads, longWorkloads, growths].flatMap((some) => Object.keys(some));
  const asked = values.only ?? Object.keys(workloads);
  if (!asked.every((name) => names.includes(name)) || !(repetitions >= 1)) {
    throw new Error(`usage: npm run bench -- [--only ${names.join('|')}]… [--repetitions N] [--directory DIR]`);
  }
  await mkdir(values.directory, { recursive: true });
  const machine = describeMachine(values.directory);
  const results: Result[] = [];
  const points: Point[] = [];
  for (const name of asked) {
    process.stderr.write(`${name} …\n`);
    const workload = workloads[name] ?? longWorkloads[name];
    const growth = growths[name];
    if (workload !== undefined) {
      results.push(...(await inScratch((root, scratch) => workload({ root, scratch, repetitions }))));
    } else if (growth !== undefined) points.push(...(await inScratch(growth)));
  }
  const out = join(repositoryRoot, 'bench', 'results');
  await mkdir(out, { recursive: true });
  const measured = { at: new Date().toISOString(), machine, repetitions, results, points };
  await writeFile(join(out, 'bench.json'), `${JSON.stringify(measured, null, 2)}\n`);
  if (results.length > 0) await writeFile(join(out, 'bench.svg'), drawChart(results, machine));
  if (points.length > 0) await writeFile(join(out, 'growth.svg'), drawGrowth(points));
  const { processors, memoryGiB, kernel, fileSystem, node } = machine;
  const head = `${processors}, ${memoryGiB} GiB, ${fileSystem}, ${kernel}, Node ${node}; medians of ${repetitions}, of lsyncd, Syncthing and GlusterFS one run`;
  const tables = [
    results.length > 0 ? formatTable(results) : '',
    formatCosts(results),
    points.length > 0 ? formatGrowth(points) : '',
  ];
  process.stdout.write(`${[head, ...tables].filter((text) => text !== '').join('\n\n')}\n`);
}

await main();
