import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from '../../testkit/programs.ts';
import { startGluster } from './gluster.ts';
import { startLsyncd } from './lsyncd.ts';
import type { Other } from './other.ts';
import { startSyncthing } from './syncthing.ts';

const kinds = [
  { name: 'lsyncd', variable: 'LOCKSTEP_BENCH_LSYNCD', start: startLsyncd },
  { name: 'syncthing', variable: 'LOCKSTEP_BENCH_SYNCTHING', start: startSyncthing },
  { name: 'gluster', variable: 'LOCKSTEP_BENCH_GLUSTER', start: startGluster },
] as const;

/** Starts each other program that is installed, or named by its variable, in a directory of its own. Says which are left out. */
export async function startOthers(directory: string): Promise<Other[]> {
  const others: Other[] = [];
  for (const { name, variable, start } of kinds) {
    const program = process.env[variable] ?? name;
    if (!(await isProgram(program))) {
      process.stderr.write(`Left out: ${name} is not installed, and ${variable} does not name it.\n`);
      continue;
    }
    const own = join(directory, name);
    await mkdir(own, { recursive: true });
    try {
      others.push(await start(program, own));
    } catch (error) {
      process.stderr.write(`Left out: ${name} does not start: ${(error as Error).message}\n`);
    }
  }
  return others;
}

async function isProgram(program: string): Promise<boolean> {
  return run(program, ['--version']).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT',
  );
}
