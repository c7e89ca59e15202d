import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../../testkit/eventually.ts';
import type { Member } from '../../testkit/member.ts';
import { lockstepProgram } from '../../testkit/repository.ts';
import { startCluster } from '../../testkit/vitest/use-cluster.ts';

/** Slow enough to see each step, also on a busy machine. */
const bytesPerSecond = 2_000_000;

/** A member that was never started, behind a slow link to one that has a large file. */
async function newcomer(): Promise<Member> {
  const cluster = await startCluster(['ant'], { proxied: true });
  const ant = cluster.member('ant');
  await writeFile(ant.path('film'), randomBytes(12_000_000));
  await ant.wait({ for: 'all' });
  const bee = await cluster.add('bee', { up: false });
  cluster.shapes('bee', { bytesPerSecond });
  return bee;
}

/** Runs a program until the test is finished, and collects what it says. */
function run(program: string, args: readonly string[]): { readonly said: { out: string; err: string } } {
  const child: ChildProcess = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] });
  const said = { out: '', err: '' };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    said.out += chunk;
  });
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    said.err += chunk;
  });
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await closed;
  });
  return { said };
}

const patience = { timeoutMs: 120_000 };

test('[CL10] up says name, folder, address and dashboard at once, then each step, then ready', async () => {
  const bee = await newcomer();
  const { said } = run(process.execPath, [lockstepProgram, 'up', bee.folder]);
  const head = `member    bee\nfolder    ${bee.folder}\nopening the journal\nlistens   ${bee.address}\ndashboard ${bee.url}login?token=`;
  await eventually(() => expect(said.out).toContain(head), patience);
  expect(said.out).not.toContain('ready');
  await eventually(() => expect(said.out).toMatch(/^receiving.*: .* of 12 MB.*\n(.*\n)*ready\n$/m), patience);
  expect(said.out.startsWith(head), said.out).toBe(true);
  expect(said.err).toBe('');
});

test('[CL10] on a terminal up rewrites one line until it is ready, and its log is for people', async () => {
  const bee = await newcomer();
  const command = `${process.execPath} ${lockstepProgram} up ${bee.folder} --log-level debug`;
  const { said } = run('script', ['-qefc', command, '/dev/null']);
  const shown = (): string => said.out.replaceAll('\r\u001B[K', '<erased>');
  await eventually(() => expect(shown()).toMatch(/(^|<erased>)ready\r$/m), patience);
  expect(said.out).toContain(`dashboard ${bee.url}login?token=`);
  expect(shown()).toMatch(/<erased>receiving from ant: [\d.]+ MB of 12 MB/);
  expect(said.out).toMatch(/\d\d:\d\d:\d\d.*debug.*a session opened.*remote /);
  expect(said.out).not.toContain('{"');
});
