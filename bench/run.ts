import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Cluster } from '../testkit/cluster.ts';
import type { Member } from '../testkit/member.ts';
import { repositoryRoot } from '../testkit/repository.ts';
import { describeMachine, drawChart, formatTable } from './report.ts';
import type { Result } from './result.ts';
import { largeFile, smallFiles } from './workloads/bulk.ts';
import { largeEdits } from './workloads/edits.ts';
import { fullLine } from './workloads/full-line.ts';
import { idle } from './workloads/idle.ts';
import { latency } from './workloads/latency.ts';
import { newcomer } from './workloads/newcomer.ts';
import { page } from './workloads/page.ts';
import { severalSources } from './workloads/several.ts';

const names = ['latency', 'small', 'large', 'edits', 'newcomer', 'several', 'full-line', 'idle', 'page'] as const;

const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true },
    repetitions: { type: 'string', default: '3' },
    directory: { type: 'string', default: tmpdir() },
  },
});

type Name = (typeof names)[number];

/** Runs one workload on its own members in `root`. */
async function measure(name: Name, root: string, scratch: string, repetitions: number): Promise<readonly Result[]> {
  if (name === 'page') return page(scratch);
  if (name === 'several') return severalSources(root, scratch, repetitions);
  const cluster = await Cluster.start(['ant', 'bee', 'cat'], { directory: root, proxied: name === 'full-line' });
  const members = cluster.members as [Member, Member, Member];
  try {
    switch (name) {
      case 'latency':
        return await latency(members, scratch);
      case 'small':
        return await smallFiles(members, scratch, repetitions);
      case 'large':
        return await largeFile(members, scratch, repetitions);
      case 'edits':
        return await largeEdits(members, scratch, repetitions);
      case 'newcomer':
        return [await newcomer(cluster, members, scratch, repetitions)];
      case 'full-line':
        return await fullLine(cluster, members);
      case 'idle':
        return await idle(members);
    }
  } finally {
    await cluster.close();
  }
}

const isName = (name: string): name is Name => (names as readonly string[]).includes(name);

/** Runs the workloads, each on its own cluster, prints the table and writes JSON and a chart into bench/results. */
async function main(): Promise<void> {
  const repetitions = Number(values.repetitions);
  const asked = values.only ?? names;
  const wanted = asked.filter(isName);
  if (wanted.length < asked.length || !(repetitions >= 1)) {
    throw new Error(`usage: npm run bench -- [--only ${names.join('|')}]… [--repetitions N] [--directory DIR]`);
  }
  await mkdir(values.directory, { recursive: true });
  const machine = describeMachine(values.directory);
  const results: Result[] = [];
  for (const name of wanted) {
    const root = await mkdtemp(join(values.directory, 'lockstep-bench-'));
    const scratch = join(root, 'scratch');
    await mkdir(scratch);
    process.stderr.write(`${name} …\n`);
    try {
      results.push(...(await measure(name, root, scratch, repetitions)));
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  }
  const out = join(repositoryRoot, 'bench', 'results');
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
