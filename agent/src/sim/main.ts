import { type ChildProcess, fork } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Violation } from './base/violation.ts';
import { runSeed } from './run.ts';
import type { SeedRequest } from './worker.ts';

const seedsByDefault = 300;

interface Report {
  readonly seed: number;
  readonly violation: Violation | undefined;
}

interface Options {
  readonly hasEncounters: boolean;
  readonly seed: number | undefined;
  readonly from: number;
  readonly seeds: number;
}

const usage = `Usage: npm run sim -- [--encounters] [--seeds N] [--from S] | [--encounters] --seed S

  --seeds N  how many seeds to run (default: ${seedsByDefault})
  --from S   the first seed (default: 1)
  --seed S   run one seed and print its story
  --encounters
             worlds in which faults and users' changes meet between the system
             calls with which a member applies a change of another one`;

function readOptions(): Options | undefined {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string' },
        seeds: { type: 'string' },
        from: { type: 'string' },
        encounters: { type: 'boolean', default: false },
      },
    });
    const read = (text: string | undefined) => (text === undefined ? undefined : wholeNumber(text));
    return {
      hasEncounters: values.encounters,
      seed: read(values.seed),
      from: read(values.from) ?? 1,
      seeds: read(values.seeds) ?? seedsByDefault,
    };
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return undefined;
  }
}

function wholeNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${text} is not a whole number.`);
  return value;
}

/** Runs one seed and prints its story. */
async function runOne(seed: number, hasEncounters: boolean): Promise<boolean> {
  const { story, violation } = await runSeed(seed, { keepsStory: true, hasEncounters });
  for (const line of story) console.log(line);
  if (violation === undefined) console.log(`seed ${seed}: all rules hold`);
  else console.log(`seed ${seed}: ${violation.rule} does not hold: ${violation.reason}`);
  return violation === undefined;
}

/** Runs many seeds in worker processes and prints the failures and a summary. */
async function runMany({ from, seeds, hasEncounters }: Options): Promise<boolean> {
  const startedAt = performance.now();
  let next = from;
  let failed = 0;
  const take = (): SeedRequest | undefined => (next < from + seeds ? { seed: next++, hasEncounters } : undefined);
  const done = ({ seed, violation }: Report) => {
    if (violation === undefined) return;
    failed += 1;
    console.log(`seed ${seed}: ${violation.rule} does not hold: ${violation.reason}`);
    console.log(`  repeat it with: npm run sim -- ${hasEncounters ? '--encounters ' : ''}--seed ${seed}`);
  };
  await Promise.all(Array.from({ length: Math.min(availableParallelism(), seeds) }, () => work(take, done)));
  const seconds = (performance.now() - startedAt) / 1_000;
  const rate = Math.round((60 * seeds) / seconds);
  console.log(`sim: ${seeds - failed} passed, ${failed} failed (${seconds.toFixed(1)} s, ${rate} seeds a minute)`);
  return failed === 0;
}

/** One worker process, which runs seeds until none is left. */
function work(take: () => SeedRequest | undefined, done: (report: Report) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = fileURLToPath(new URL('./worker.js', import.meta.url));
    // Each core has a worker, so that threads of the garbage collector only cost time.
    const child: ChildProcess = fork(worker, { execArgv: ['--single-threaded-gc'] });
    const giveNext = () => {
      const request = take();
      if (request === undefined) child.disconnect();
      else child.send(request);
    };
    child.on('message', (report: Report) => {
      done(report);
      giveNext();
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      if (code === 0) resolve();
      else reject(new Error(`A simulator process ended with ${signal ?? `exit code ${code}`}.`));
    });
    giveNext();
  });
}

const options = readOptions();
if (options === undefined) process.exitCode = 2;
else {
  const passed =
    options.seed === undefined ? await runMany(options) : await runOne(options.seed, options.hasEncounters);
  if (!passed) process.exitCode = 1;
}
