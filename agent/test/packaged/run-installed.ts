import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { inject, onTestFinished } from 'vitest';
import type { Outcome } from '../../../testkit/member.ts';

/** The environment of a user who has the package but not the clone. */
export function cleanEnvironment(): Record<string, string> {
  const { prefix, space } = inject('installed');
  return { PATH: `${prefix}/bin:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: space };
}

/** The program as npm installed it. */
export function installedProgram(): string {
  return join(inject('installed').prefix, 'bin', 'lockstep');
}

/** Runs the installed `lockstep` with these arguments until it ends. */
export async function runInstalled(args: readonly string[], cwd = inject('installed').space): Promise<Outcome> {
  const child = spawn(installedProgram(), args, { cwd, env: cleanEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code, out, err };
}

/** Starts `lockstep up` on a folder and resolves with the dashboard's address when it is ready. It ends with the test. */
export async function upInstalled(folder: string): Promise<string> {
  const child: ChildProcess = spawn(installedProgram(), ['up', folder], {
    cwd: folder,
    env: cleanEnvironment(),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await closed;
  });
  let said = '';
  for await (const chunk of child.stdout ?? []) {
    said += String(chunk);
    if (said.includes('\nready\n')) break;
  }
  const url = /^dashboard (\S+)$/m.exec(said)?.[1];
  if (url === undefined) throw new Error(`The installed agent did not become ready: ${said}`);
  return url;
}
