import { parseArgs } from 'node:util';
import { composePlace, NoEngine } from '../testkit/labs/compose.ts';
import { localPlace } from '../testkit/labs/local.ts';
import { randomFrom } from '../testkit/load/random-user.ts';
import { scenes } from '../testkit/scenes/all.ts';
import { type Result, Runner } from './runner.ts';

const help = `Usage: npm run drill -- [options] [DRILL…]

Drills inject faults into a cluster and check that nothing is lost. Never run them on a cluster that matters.
Without names all drills are run, one after the other; each prints what it did, what it saw and a verdict. Each has
its own cluster, which is made from docker-compose.yml and removed afterwards.

  --local         run on processes of this machine, in temporary folders
  --short         run each drill in a short form: some minutes for all
  --minutes N     duration of churn (60; 2 with --short)
  --seed N        repeat the random choices of a run, which prints its seed
  --list          print the drills
  --help          print this help

Exits with 0 if no drill failed, 1 if one did, and 2 for wrong use.
`;

class WrongUse extends Error {}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        local: { type: 'boolean', default: false },
        short: { type: 'boolean', default: false },
        minutes: { type: 'string' },
        seed: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
  } catch (error) {
    throw new WrongUse(error instanceof Error ? error.message : String(error));
  }
}

/** The whole number of at least 1 in an option, or `otherwise` without the option. */
function numberOf(option: string, text: string | undefined, otherwise: number): number {
  if (text === undefined) return otherwise;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1) throw new WrongUse(`--${option} takes a whole number, not ${text}.`);
  return number;
}

async function run(args: readonly string[]): Promise<number> {
  const { values, positionals } = parse(args);
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  if (values.list) {
    for (const { name, title } of scenes) process.stdout.write(`${name.padEnd(17)} ${title}\n`);
    return 0;
  }
  const unknown = positionals.find((name) => !scenes.some((scene) => scene.name === name));
  if (unknown !== undefined) {
    throw new WrongUse(`There is no drill ${unknown}. The drills are ${scenes.map(({ name }) => name).join(', ')}.`);
  }
  const minutes = numberOf('minutes', values.minutes, values.short ? 2 : 60);
  const seed = numberOf('seed', values.seed, 1 + Math.floor(Math.random() * 1e9));
  const place = values.local ? localPlace : await composePlace();
  const runner = new Runner(place, { short: values.short, churnMs: minutes * 60_000, random: randomFrom(seed) });
  process.stdout.write(`Drills on ${place.title}, seed ${seed}.\n`);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      // Agents end with this process, but folders and mounts must be removed.
      void runner.interrupt().finally(() => process.exit(1));
    });
  }
  const results: Result[] = [];
  for (const scene of scenes) {
    if (positionals.length === 0 || positionals.includes(scene.name)) results.push(await runner.run(scene));
    if (runner.interrupted) return 1;
  }
  const count = (verdict: Result['verdict']): number => results.filter((result) => result.verdict === verdict).length;
  const [survived, failed, leftOut] = [count('survived'), count('failed'), count('left out')];
  process.stdout.write(`\nDrills: ${survived} survived, ${failed} failed, ${leftOut} left out\n`);
  return failed === 0 ? 0 : 1;
}

/** `npm run drill` with these arguments; resolves with the exit code. */
export async function runDrills(args: readonly string[]): Promise<number> {
  try {
    return await run(args);
  } catch (error) {
    if (!(error instanceof WrongUse || error instanceof NoEngine)) throw error;
    // The messages of the option parser have no full stop.
    process.stderr.write(`drill: ${error.message.replace(/(?<![.])$/, '.')} See --help.\n`);
    return 2;
  }
}
