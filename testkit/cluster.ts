import assert from 'node:assert/strict';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { lockstepInTurn } from './command-process.ts';
import { freePort } from './free-port.ts';
import { allConnected, allSettled, allVerified, bothApart, sameTrees } from './level.ts';
import { LinkProxy, type LinkShape, type LinkState } from './link-proxy.ts';
import { Member, type StartOptions } from './member.ts';
import type { Tree } from './tree.ts';

export interface ClusterOptions {
  /** Members connect to each other through proxies that can be cut: see `Cluster.link`. */
  readonly proxied?: boolean;
  /** The start options of all agents. */
  readonly start?: StartOptions;
  /** The directory in which the cluster's temporary folder is made; by default that of the system. */
  readonly directory?: string;
}

export interface AddOptions {
  readonly start?: StartOptions;
  /** Called with the folder before `lockstep init`. */
  readonly prepare?: (folder: string) => Promise<void>;
  /** The path of the folder; by default next to those of the others. */
  readonly folder?: string;
  /** False: the member is initialised but not started. */
  readonly up?: boolean;
  /** The members whose addresses the new one gets; by default all. Not for a proxied cluster. */
  readonly peers?: readonly string[];
}

/** An address on which no process listens: members that advertise it are reached only through their proxies. */
const nowhere = '127.0.0.1:1';

/** Makes folders the folders of members. */
async function init(commands: readonly (readonly string[])[]): Promise<void> {
  const made = await lockstepInTurn(commands);
  assert.equal(made.code, 0, made.notes);
}

/** A cluster of real agents on this machine, each with a temporary folder. `close` ends and removes everything. */
export class Cluster {
  readonly root: string;
  readonly members: Member[] = [];
  readonly #options: ClusterOptions;
  readonly #proxies = new Map<string, LinkProxy>();

  private constructor(root: string, options: ClusterOptions) {
    this.root = root;
    this.#options = options;
  }

  /** Makes and starts members with these names, one after the other. The first creates the cluster and is the oldest. */
  static async start(names: readonly string[], options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(
      await realpath(await mkdtemp(join(options.directory ?? tmpdir(), 'lockstep-test-'))),
      options,
    );
    try {
      const commands: (readonly string[])[] = [];
      for (const name of names) commands.push(await cluster.#prepare(name, {}));
      await init(commands);
      for (const member of cluster.members) await member.start();
      await cluster.connected();
    } catch (error) {
      cluster.printLogs();
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** Makes one more member and, unless `up` is false, starts it. */
  async add(name: string, options: AddOptions = {}): Promise<Member> {
    await init([await this.#prepare(name, options)]);
    const member = this.member(name);
    if (options.up !== false) await member.start();
    return member;
  }

  /** Makes the folder of a new member, and returns the arguments of its `lockstep init`. */
  async #prepare(name: string, options: AddOptions): Promise<readonly string[]> {
    const folder = options.folder ?? join(this.root, name);
    await mkdir(folder, { recursive: true });
    await options.prepare?.(folder);
    const place = { name, folder, port: await freePort(), dashboardPort: await freePort() };
    const member = new Member(place, { ...this.#options.start, ...options.start });
    const args = ['init', folder, '--name', name, '--listen', member.address, '--dashboard', new URL(member.url).host];
    const [first] = this.members;
    if (first !== undefined) args.push('--cluster-key-file', first.state('cluster.key'));
    const peers = options.peers?.map((peer) => this.member(peer).address) ?? (await this.#peersOf(member));
    for (const address of peers) args.push('--peer', address);
    if (this.#options.proxied === true) args.push('--address', nowhere);
    this.members.push(member);
    return args;
  }

  member(name: string): Member {
    const member = this.members.find((known) => known.name === name);
    if (member === undefined) throw new Error(`There is no member ${name}`);
    return member;
  }

  get running(): readonly Member[] {
    return this.members.filter(({ running }) => running);
  }

  /** Sets both directions of the link between two members of a proxied cluster. */
  link(a: string, b: string, state: LinkState): void {
    for (const key of [`${a}>${b}`, `${b}>${a}`]) this.#proxies.get(key)?.set(state);
  }

  /** Sets all links of one member. */
  links(name: string, state: LinkState): void {
    for (const other of this.members) if (other.name !== name) this.link(name, other.name, state);
  }

  /**
   * Opens all links of a proxied cluster; resolves when all that run are connected. A session that ended repeatedly is tried less
   * often: all are asked to dial at once, as a person may by Try again.
   */
  async heal(): Promise<void> {
    for (const proxy of this.#proxies.values()) proxy.set('open');
    await Promise.all(this.running.map((member) => member.retry()));
    await this.connected();
  }

  /** Sets what the link between two members of a proxied cluster does to the bytes that pass through it. */
  shape(a: string, b: string, shape: LinkShape): void {
    for (const key of [`${a}>${b}`, `${b}>${a}`]) this.#proxies.get(key)?.shape(shape);
  }

  /** The same for all links of one member. */
  shapes(name: string, shape: LinkShape): void {
    for (const other of this.members) if (other.name !== name) this.shape(name, other.name, shape);
  }

  /** How many connections the links of a proxied cluster have carried since the start. */
  get connections(): number {
    return [...this.#proxies.values()].reduce((sum, proxy) => sum + proxy.connections, 0);
  }

  /** See `allConnected`. */
  connected(members: readonly Member[] = this.running): Promise<void> {
    return allConnected(members);
  }

  /** See `bothApart`. */
  apart(a: string, b: string): Promise<void> {
    return bothApart(this.member(a), this.member(b));
  }

  /** See `allSettled`. */
  settled(members: readonly Member[] = this.running, timeoutMs?: number, heldBy?: number): Promise<Tree> {
    return allSettled(members, timeoutMs, heldBy);
  }

  /** See `sameTrees`. */
  sameTrees(members: readonly Member[] = this.running): Tree {
    return sameTrees(members);
  }

  /** See `allVerified`. */
  verified(members: readonly Member[] = this.running): Promise<void> {
    return allVerified(members);
  }

  /** Prints the end of each agent's log. */
  printLogs(): void {
    for (const { name, log } of this.members) {
      console.error(`\n=== log of ${name} in ${this.root}\n${log.slice(-60).join('\n')}`);
    }
  }

  async close(): Promise<void> {
    // SIGKILL also ends agents that SIGSTOP holds. All end before their proxies, so that none dials a closed one.
    await Promise.all(this.members.map((member) => member.kill()));
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.close()));
    await rm(this.root, { recursive: true, force: true });
  }

  async #peersOf(member: Member): Promise<readonly string[]> {
    if (this.#options.proxied !== true) return this.members.map(({ address }) => address);
    const addresses: string[] = [];
    for (const other of this.members) {
      const proxy = await LinkProxy.open(() => other.port);
      this.#proxies.set(`${member.name}>${other.name}`, proxy);
      addresses.push(proxy.address);
    }
    return addresses;
  }
}
