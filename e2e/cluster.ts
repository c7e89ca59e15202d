import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Status } from '@lockstep/shared/api';

const program = fileURLToPath(new URL('../agent/bin/lockstep.js', import.meta.url));
const run = promisify(execFile);

/** A member: a folder, and an agent that is started and stopped like any other program. */
export class Member {
  readonly name: string;
  readonly folder: string;
  /** Where its dashboard answers; ends with a slash. Stays the same once it is known. */
  url = '';
  /** Where it listens for members; stays the same once it is known. */
  address = '127.0.0.1:0';
  #process: ChildProcess | undefined;

  constructor(name: string, folder: string) {
    this.name = name;
    this.folder = folder;
  }

  /** Makes the folder a member's. With `first` it joins the cluster of that one, else it begins a new one. */
  async init(first?: Member): Promise<void> {
    await mkdir(this.folder);
    const joining =
      first === undefined
        ? []
        : ['--cluster-key-file', join(first.folder, '.lockstep', 'cluster.key'), '--peer', first.address];
    const settings = ['--name', this.name, '--listen', '127.0.0.1:0', '--dashboard', '127.0.0.1:0'];
    await run(process.execPath, [program, 'init', this.folder, ...settings, ...joining]);
  }

  /** Starts the agent; resolves when it says that it is ready. */
  async start(): Promise<void> {
    // The agent ends with its standard input, so that none outlives a test runner that was killed.
    const dashboard = this.url === '' ? '127.0.0.1:0' : new URL(this.url).host;
    const args = [program, 'up', this.folder, '--listen', this.address, '--dashboard', dashboard, '--stop-with-input'];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process = child;
    for await (const line of createInterface(child.stdout)) {
      const [, url] = /^dashboard\s+(http:\S+)$/.exec(line) ?? [];
      if (url !== undefined) this.url = url;
      if (line === 'ready') {
        this.address = (await this.status()).member.address;
        return;
      }
    }
    throw new Error(`${this.name} ended before it was ready`);
  }

  async status(): Promise<Status> {
    const response = await fetch(new URL('/api/v1/status', this.url));
    return (await response.json()) as Status;
  }

  /** Ends the agent with `signal` and waits until it is gone. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  }
}

/** Members on this machine, all started and ready, in a temporary folder. */
export class Cluster {
  readonly members: readonly Member[];
  readonly #directory: string;

  constructor(members: readonly Member[], directory: string) {
    this.members = members;
    this.#directory = directory;
  }

  static async start(names: readonly string[]): Promise<Cluster> {
    const directory = await mkdtemp(join(tmpdir(), 'lockstep-e2e-'));
    const members = names.map((name) => new Member(name, join(directory, name)));
    const cluster = new Cluster(members, directory);
    try {
      const [first, ...others] = members;
      await first?.init();
      await first?.start();
      for (const other of others) await other.init(first);
      await Promise.all(others.map((other) => other.start()));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  member(name: string): Member {
    const found = this.members.find((member) => member.name === name);
    if (found === undefined) throw new Error(`the cluster has no member ${name}`);
    return found;
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    await rm(this.#directory, { recursive: true, force: true });
  }
}
