import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Status } from '@lockstep/shared/api';

const run = promisify(execFile);
const lockstep = fileURLToPath(new URL('../../agent/bin/lockstep.js', import.meta.url));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string') throw new Error('no free port');
  return address.port;
}

/** One member: a built agent in a process of its own. */
export class Member {
  readonly name: string;
  readonly folder: string;
  readonly address: string;
  readonly #dashboard: string;
  #process: ChildProcess | undefined;

  private constructor(name: string, folder: string, address: string, dashboard: string) {
    this.name = name;
    this.folder = folder;
    this.address = address;
    this.#dashboard = dashboard;
  }

  /** Makes the member's folder; it joins the cluster of `first`, or begins one. */
  static async create(root: string, name: string, first?: Member): Promise<Member> {
    const folder = join(root, name);
    await mkdir(folder, { recursive: true });
    const member = new Member(name, folder, `127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`);
    const join_ = first
      ? ['--cluster-key-file', join(first.folder, '.lockstep/cluster.key'), '--peer', first.address]
      : [];
    const where = ['--listen', member.address, '--dashboard', member.#dashboard];
    await run(process.execPath, [lockstep, 'init', folder, '--name', name, ...where, ...join_]);
    return member;
  }

  /** Starts the agent; resolves when it prints `ready`. */
  async start(): Promise<void> {
    const child = spawn(lockstep, ['up', this.folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#process = child;
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.trim() === 'ready') {
        child.stdout.resume();
        return;
      }
    }
    throw new Error(`${this.name} ended before it was ready`);
  }

  async stop(): Promise<void> {
    const child = this.#process;
    if (child === undefined || child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }

  async status(): Promise<Status> {
    const response = await fetch(`http://${this.#dashboard}/api/v1/status`);
    return (await response.json()) as Status;
  }

  /**
   * Processor time of the agent's threads and its resident memory. By the scheduler's own count: that in `stat` is a sample taken at
   * each tick of the kernel, which is too coarse for an agent that wakes for a tenth of a millisecond.
   */
  async usage(): Promise<{ readonly cpuMs: number; readonly rssMiB: number }> {
    const process = `/proc/${this.#process?.pid}`;
    const statm = await readFile(`${process}/statm`, 'utf8');
    let cpuNs = 0;
    for (const thread of await readdir(`${process}/task`)) {
      // A thread that has ended since counts for nothing.
      const schedstat = await readFile(`${process}/task/${thread}/schedstat`, 'utf8').catch(() => '0');
      cpuNs += Number(schedstat.split(' ')[0]);
    }
    return { cpuMs: cpuNs / 1e6, rssMiB: (Number(statm.split(' ')[1]) * 4096) / 1024 ** 2 };
  }
}

/** Resolves when `condition` holds for the status of each member; asks every 10 ms. */
export async function until(members: readonly Member[], condition: (status: Status) => boolean): Promise<void> {
  for (const member of members) {
    while (!condition(await member.status())) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Three members, up and connected. */
export async function startCluster(root: string): Promise<readonly [Member, Member, Member]> {
  const ant = await Member.create(root, 'ant');
  const bee = await Member.create(root, 'bee', ant);
  const cat = await Member.create(root, 'cat', ant);
  const members = [ant, bee, cat] as const;
  await Promise.all(members.map((member) => member.start()));
  await until(members, (status) => status.members.filter(({ state }) => state === 'active').length === 3);
  return members;
}
