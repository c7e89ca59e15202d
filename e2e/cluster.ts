import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Status } from '@lockstep/shared/api';
import { freePort } from '../testkit/free-port.ts';
import { LinkProxy, type LinkState } from '../testkit/link-proxy.ts';

const program = fileURLToPath(new URL('../agent/bin/lockstep.js', import.meta.url));
const run = promisify(execFile);

/** Nobody listens there: members that advertise it are reached by their proxies only. */
const nowhere = '127.0.0.1:1';

/** A member: a folder, and an agent that is started and stopped like any other program. */
export class Member {
  readonly name: string;
  readonly folder: string;
  /** Where it listens for members. */
  readonly port: number;
  /** Where its dashboard answers; ends with a slash. */
  readonly url: string;
  #process: ChildProcess | undefined;

  constructor(place: { name: string; folder: string; port: number; dashboardPort: number }) {
    this.name = place.name;
    this.folder = place.folder;
    this.port = place.port;
    this.url = `http://127.0.0.1:${place.dashboardPort}/`;
  }

  get address(): string {
    return `127.0.0.1:${this.port}`;
  }

  /** Makes the folder a member's. With `first` it joins the cluster of that one, else it begins a new one. */
  async init(first: Member | undefined, args: readonly string[]): Promise<void> {
    await mkdir(this.folder);
    const joining = first === undefined ? [] : ['--cluster-key-file', join(first.folder, '.lockstep', 'cluster.key')];
    const settings = ['--name', this.name, '--listen', this.address, '--dashboard', new URL(this.url).host];
    await run(process.execPath, [program, 'init', this.folder, ...settings, ...joining, ...args]);
  }

  /** Starts the agent; resolves when it says that it is ready. */
  async start(): Promise<void> {
    // The agent ends with its standard input, so that none outlives a test runner that was killed.
    const args = [program, 'up', this.folder, '--stop-with-input'];
    const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    this.#process = child;
    for await (const line of createInterface(child.stdout)) if (line === 'ready') return;
    throw new Error(`${this.name} ended before it was ready`);
  }

  /**
   * Puts a file into the folder when it is whole: one operation, also where the agent looks between its making and its filling. `path` is
   * relative to the folder.
   */
  async put(path: string, content: string): Promise<void> {
    const outside = `${this.folder}.outside`;
    await writeFile(outside, content);
    await rename(outside, join(this.folder, path));
  }

  async status(): Promise<Status> {
    const response = await fetch(new URL('/api/v1/status', this.url));
    return (await response.json()) as Status;
  }

  /** Holds the agent, or lets it go on. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(signal);
  }

  /** Ends the agent with `signal` and waits until it is gone. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      child.once('exit', () => resolve());
      child.kill(signal);
      // One that is held ends when it goes on.
      child.kill('SIGCONT');
    });
  }
}

/** Members on this machine, all started and ready, in a temporary folder. */
export class Cluster {
  readonly members: Member[] = [];
  readonly #directory: string;
  readonly #isProxied: boolean;
  /** By who dials and who is dialled. */
  readonly #proxies = new Map<string, LinkProxy>();

  private constructor(directory: string, isProxied: boolean) {
    this.#directory = directory;
    this.#isProxied = isProxied;
  }

  /** With `isProxied` every two members speak through a proxy, so that their link can be cut or made slow. */
  static async start(names: readonly string[], { isProxied = false } = {}): Promise<Cluster> {
    const cluster = new Cluster(await mkdtemp(join(tmpdir(), 'lockstep-e2e-')), isProxied);
    try {
      for (const name of names) await cluster.#make(name);
      await Promise.all(cluster.members.map((member) => member.start()));
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** Sets the link between two members of a proxied cluster. */
  link(a: string, b: string, state: LinkState): void {
    for (const proxy of this.#proxiesBetween(a, b)) proxy.set(state);
  }

  /** Lets no more than this pass between `name` and each other member, each way. */
  limit(name: string, bytesPerSecond: number): void {
    for (const other of this.members) {
      for (const proxy of this.#proxiesBetween(name, other.name)) proxy.shape({ bytesPerSecond });
    }
  }

  member(name: string): Member {
    const found = this.members.find((member) => member.name === name);
    if (found === undefined) throw new Error(`the cluster has no member ${name}`);
    return found;
  }

  async stop(): Promise<void> {
    await Promise.all(this.members.map((member) => member.stop()));
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.close()));
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #make(name: string): Promise<void> {
    const place = {
      name,
      folder: join(this.#directory, name),
      port: await freePort(),
      dashboardPort: await freePort(),
    };
    const member = new Member(place);
    const args = this.#isProxied ? ['--address', nowhere] : [];
    for (const other of this.members) args.push('--peer', await this.#addressOf(other, name));
    await member.init(this.members[0], args);
    this.members.push(member);
  }

  async #addressOf(member: Member, by: string): Promise<string> {
    if (!this.#isProxied) return member.address;
    const proxy = await LinkProxy.open(() => member.port);
    this.#proxies.set(`${by}>${member.name}`, proxy);
    return proxy.address;
  }

  #proxiesBetween(a: string, b: string): readonly LinkProxy[] {
    return [`${a}>${b}`, `${b}>${a}`].flatMap((key) => this.#proxies.get(key) ?? []);
  }
}
