import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, inject } from 'vitest';
import { cleanEnvironment, runInstalled } from './run-installed.ts';

const execute = promisify(execFile);

/** Beginnings of command lines, and the expected completion of the last word when Tab is pressed. */
export const completions = [
  ['lockstep sta', 'status'],
  ['lockstep init --clu', '--cluster-key-file'],
  ['lockstep completion z', 'zsh'],
  ['lockstep help doc', 'doctor'],
  ['lockstep up --rej', '--rejoin'],
  ['lockstep up --log-level d', 'debug'],
  ['lockstep status dir', 'directory/'],
  ['lockstep init --cluster-key-file fi', 'file'],
  ['lockstep wait fi', 'file'],
] as const;

/** The completion script that the installed program prints for a shell, next to a directory and a file to complete. */
export async function writeCompletion(shell: string): Promise<{ readonly cwd: string; readonly script: string }> {
  const cwd = await mkdtemp(join(inject('installed').space, `${shell}-`));
  await mkdir(join(cwd, 'directory'));
  await writeFile(join(cwd, 'file'), '');
  const { code, out } = await runInstalled(['completion', shell]);
  expect(code).toBe(0);
  const script = join(cwd, `.completion.${shell}`);
  await writeFile(script, out);
  return { cwd, script };
}

/** The output of a shell that runs `code` with these arguments. */
export async function runShell(shell: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { ...cleanEnvironment(), TERM: 'dumb' };
  return (await execute(shell, [...args], { cwd, env, timeout: 50_000 })).stdout;
}
