import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { lockstepProgram } from '../../testkit/repository.ts';

const module = new URL('../dist/cli/lab/lab.js', import.meta.url).href;
const script = `import { runLab } from ${JSON.stringify(module)}; process.exitCode = await runLab(process.argv.slice(2));`;

/** Below the kernel's ephemeral ports and those of other tests, so that no process takes one between the check and the start. */
const portsFrom = 10_000;

let root = '';
let portBase = 0;
let labs: ChildProcess[] = [];

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listening = once(server.listen(port, '127.0.0.1'), 'listening');
  const free = await listening.then(() => true).catch(() => false);
  if (free) await once(server.close(), 'close');
  return free;
}

async function freePortBase(): Promise<number> {
  for (let base = portsFrom + (process.pid % 15) * 100; ; base += 10) {
    const ports = [1, 2, 101, 102].map((offset) => base + offset);
    if ((await Promise.all(ports.map(isFree))).every((free) => free)) return base;
  }
}

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'lockstep-lab-')));
  await writeFile(join(root, 'lab.mjs'), script);
  portBase = await freePortBase();
});

afterEach(async () => {
  for (const lab of labs) {
    if (lab.exitCode !== null || lab.signalCode !== null) continue;
    lab.kill('SIGKILL');
    await once(lab, 'close');
  }
  labs = [];
  await rm(root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

function startLab(...args: readonly string[]) {
  const child = spawn(process.execPath, ['lab.mjs', ...args], { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });
  labs.push(child);
  const lab = { child, said: '', closed: once(child, 'close') };
  const hear = (chunk: string): void => {
    lab.said += chunk;
  };
  child.stdout.setEncoding('utf8').on('data', hear);
  child.stderr.setEncoding('utf8').on('data', hear);
  return lab;
}

const patience = { timeout: 60_000, interval: 50 };

async function hears(lab: ReturnType<typeof startLab>, pattern: RegExp): Promise<string> {
  return await vi.waitFor(() => {
    const match = pattern.exec(lab.said);
    expect(match, `${pattern} in:\n${lab.said}`).not.toBeNull();
    return match?.[1] ?? '';
  }, patience);
}

async function stop(lab: ReturnType<typeof startLab>): Promise<unknown> {
  lab.child.kill('SIGINT');
  const [code] = await lab.closed;
  return code;
}

const ports = () => ['--members', '2', '--port-base', String(portBase)];
const folder = (name: string, file: string) => join(root, 'lab', name, file);

/** Puts a whole file into the folder of a member: one that is written there may be seen empty first, and is then two changes. */
async function put(name: string, file: string, text: string): Promise<void> {
  await writeFile(join(root, file), text);
  await rename(join(root, file), folder(name, file));
}

test('the lab reports what happens, stops cleanly, and continues where it stopped', async () => {
  const lab = startLab(...ports());
  await hears(lab, /ant joined/);
  await hears(lab, /bee joined/);
  await put('ant', 'note.txt', 'hello');
  await hears(lab, /ant: 1 file \(5 B\) in .* to 1 member/);
  expect(await readFile(folder('bee', 'note.txt'), 'utf8')).toBe('hello');

  const second = startLab();
  expect((await second.closed)[0]).toBe(1);
  expect(second.said).toContain('A lab is already running');

  expect(await stop(lab)).toBe(0);
  expect(lab.said).toContain('All members have stopped.');
  await writeFile(folder('bee', 'note.txt'), 'again');
  const next = startLab();
  await hears(next, /bee joined/);
  await vi.waitFor(async () => expect(await readFile(folder('ant', 'note.txt'), 'utf8')).toBe('again'), patience);
  expect(await stop(next)).toBe(0);
});

test('the lab reports a member that dies, and the others continue; no member outlives a killed lab', async () => {
  const lab = startLab(...ports());
  const pid = Number(await hears(lab, /^bee .* (\d+) +http/m));
  await hears(lab, /bee joined/);
  process.kill(pid, 'SIGKILL');
  await hears(lab, /bee ended \(signal SIGKILL\)\. To start it again: r and Enter, or npx lockstep up \S+bee/);
  await put('ant', 'note.txt', 'hello');

  lab.child.kill('SIGKILL');
  await lab.closed;
  // The members notice that their input has ended; until then the next lab refuses to start and names what still runs.
  const next = await vi.waitFor(async () => {
    const started = startLab();
    const outcome = await Promise.race([started.closed, hears(started, /(Ctrl-C) stops all/)]);
    expect(outcome, started.said).toBe('Ctrl-C');
    return started;
  }, patience);
  await vi.waitFor(async () => expect(await readFile(folder('bee', 'note.txt'), 'utf8')).toBe('hello'), patience);
  expect(await stop(next)).toBe(0);
});

test('r and Enter starts a member again that ended; a member started by hand is named at the end', async () => {
  const lab = startLab(...ports());
  const pid = Number(await hears(lab, /^bee .* (\d+) +http/m));
  await hears(lab, /bee joined/);
  process.kill(pid, 'SIGKILL');
  await hears(lab, /bee ended/);
  lab.child.stdin.write('r\n');
  await hears(lab, /bee starts again[\s\S]*bee joined/);
  lab.child.stdin.write('r\n');
  await hears(lab, /All members run\./);
  expect(lab.said).toContain(`http://127.0.0.1:${portBase + 1}/`);

  const again = Number(JSON.parse(await readFile(folder('bee', '.lockstep/running.json'), 'utf8')).pid);
  process.kill(again, 'SIGKILL');
  await hears(lab, /bee ended[\s\S]*bee ended/);
  const byHand = spawn(process.execPath, [lockstepProgram, 'up', join(root, 'lab', 'bee')], { stdio: 'ignore' });
  labs.push(byHand);
  await hears(lab, /bee starts again[\s\S]*bee joined[\s\S]*bee joined/);
  expect(await stop(lab)).toBe(0);
  expect(lab.said).toContain(
    `bee still runs (process ${byHand.pid}), and was not started here. To stop it: kill ${byHand.pid}`,
  );
  expect(lab.said).not.toContain('All members have stopped.');
});

test('a taken port is named, --fresh starts over, wrong use ends with 2', async () => {
  const server = createServer().listen(portBase + 2, '127.0.0.1');
  await once(server, 'listening');
  const lab = startLab(...ports());
  expect((await lab.closed)[0]).toBe(1);
  expect(lab.said).toContain(`Port ${portBase + 2}, which the dashboard of member bee needs`);
  await once(server.close(), 'close');

  const first = startLab(...ports());
  await hears(first, /bee joined/);
  await put('ant', 'note.txt', 'hello');
  await hears(first, /ant: 1 file/);
  await stop(first);
  const fresh = startLab('--fresh', ...ports());
  await hears(fresh, /bee joined/);
  await expect(readFile(folder('ant', 'note.txt'))).rejects.toThrow('ENOENT');
  await stop(fresh);

  const wrong = startLab('--members', '1');
  expect((await wrong.closed)[0]).toBe(2);
});
