import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { freePort } from '../../../testing/free-ports.ts';
import { LinkProxy, type LinkState } from '../../../testing/link-proxy.ts';
import { lockstep, Member, type StartOptions } from './member.ts';
import { diffTrees, type Tree } from './tree.ts';

export interface ClusterOptions {
  /** Every two members speak through proxies that can be cut: see `Cluster.link`. */
  readonly proxied?: boolean;
  /** How the agents are started. */
  readonly start?: StartOptions;
}

export interface AddOptions {
  readonly start?: StartOptions;
  /** Called with the folder before it becomes a member's. */
  readonly prepare?: (folder: string) => Promise<void>;
  /** Where the folder is to be; by default beside those of the others. */
  readonly folder?: string;
  /** False: made a member and not started. */
  readonly up?: boolean;
}

/** Nobody listens there: members that advertise it are reached by their proxies only. */
const nowhere = '127.0.0.1:1';

/** Some real agents on this machine, each with a temporary folder. `close` ends and removes everything. */
export class Cluster {
  readonly root: string;
  readonly members: Member[] = [];
  readonly #options: ClusterOptions;
  readonly #proxies = new Map<string, LinkProxy>();

  private constructor(root: string, options: ClusterOptions) {
    this.root = root;
    this.#options = options;
  }

  /** Makes and starts members of these names, one after the other: the first begins the cluster and is the oldest. */
  static async start(names: readonly string[], options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(await realpath(await mkdtemp(join(tmpdir(), 'lockstep-test-'))), options);
    try {
      for (const name of names) await cluster.add(name);
      await cluster.connected();
    } catch (error) {
      cluster.printLogs();
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  /** Makes one more member, and starts it. */
  async add(name: string, options: AddOptions = {}): Promise<Member> {
    const folder = options.folder ?? join(this.root, name);
    await mkdir(folder, { recursive: true });
    await options.prepare?.(folder);
    const place = { name, folder, port: await freePort(), dashboardPort: await freePort() };
    const member = new Member(place, { ...this.#options.start, ...options.start });
    const args = ['init', folder, '--name', name, '--listen', member.address, '--dashboard', new URL(member.url).host];
    const [first] = this.members;
    if (first !== undefined) args.push('--cluster-key-file', first.state('cluster.key'));
    for (const address of await this.#peersOf(member)) args.push('--peer', address);
    if (this.#options.proxied === true) args.push('--address', nowhere);
    expect(await lockstep(args)).toMatchObject({ code: 0 });
    this.members.push(member);
    if (options.up !== false) await member.start();
    return member;
  }

  member(name: string): Member {
    const member = this.members.find((known) => known.name === name);
    if (member === undefined) throw new Error(`No member is called ${name}`);
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

  delay(a: string, b: string, delayMs: number): void {
    for (const key of [`${a}>${b}`, `${b}>${a}`]) this.#proxies.get(key)?.delay(delayMs);
  }

  /** Resolves when each of these has a session with each other (or, with `apart`, these two have none). */
  async connected(members: readonly Member[] = this.running): Promise<void> {
    const names = members.map(({ name }) => name);
    for (const member of members) {
      await vi.waitFor(
        async () => {
          const { members: seen } = await member.status();
          const open = seen.filter(({ connected, state }) => connected && state === 'active').map(({ name }) => name);
          expect(open, `connected with ${member.name}`).toEqual(expect.arrayContaining(names));
        },
        { timeout: 30_000, interval: 50 },
      );
    }
  }

  async apart(a: string, b: string): Promise<void> {
    for (const [one, other] of [
      [a, b],
      [b, a],
    ] as const) {
      await vi.waitFor(
        async () => {
          const seen = (await this.member(one).status()).members.find(({ name }) => name === other);
          expect(seen?.connected ?? false).toBe(false);
        },
        { timeout: 30_000, interval: 50 },
      );
    }
  }

  /**
   * Resolves with the common tree when everything that is on any disk is on all of them: each member has seen its disk and all
   * hold what it knows, journals are equal, nothing is pending, and then, without a second try, the folders are equal.
   * `heldBy`: how many members each can hear it from; fewer than all where two cannot reach each other.
   */
  async settled(
    members: readonly Member[] = this.running,
    timeoutMs = 90_000,
    heldBy: number = members.length,
  ): Promise<Tree> {
    const untilMs = Date.now() + timeoutMs;
    for (const member of members) {
      const result = await member.wait({ for: heldBy, timeoutMs: Math.max(1_000, untilMs - Date.now()) });
      expect(result.blocking, `what the wait on ${member.name} is for`).toEqual([]);
      expect(result.done).toBe(true);
    }
    await vi.waitFor(() => this.#levelled(members), { timeout: Math.max(2_000, untilMs - Date.now()), interval: 50 });
    return this.sameTrees(members);
  }

  /** Compares the folders now. */
  sameTrees(members: readonly Member[] = this.running): Tree {
    const trees = members.map((member) => member.tree());
    const [first] = members;
    const [tree] = trees;
    if (first === undefined || tree === undefined) throw new Error('There is no member to compare');
    const differences = members.flatMap((member, index) =>
      diffTrees(tree, trees[index] ?? new Map(), [first.name, member.name]),
    );
    expect(differences.slice(0, 20), 'differences of the folders').toEqual([]);
    return tree;
  }

  /** Runs `lockstep verify` everywhere. */
  async verified(members: readonly Member[] = this.running): Promise<void> {
    for (const member of members) {
      const result = await member.verify();
      expect(result, `verify on ${member.name}`).toMatchObject({ ok: true });
    }
  }

  async #levelled(members: readonly Member[]): Promise<void> {
    const states = await Promise.all(
      members.map(async (member) => {
        const { digest, version, pending, conflicts } = await member.status();
        return { digest, version, pending, conflicts };
      }),
    );
    for (const state of states) {
      expect(state).toMatchObject({ pending: 0, conflicts: 0 });
      expect(state).toEqual(states[0]);
    }
  }

  /** Prints the end of each agent's log. */
  printLogs(): void {
    for (const { name, log } of this.members) {
      console.error(`\n=== log of ${name} in ${this.root}\n${log.slice(-60).join('\n')}`);
    }
  }

  async close(): Promise<void> {
    // Stopped first: a killed one may be held by SIGSTOP, and a peer that is told goodbye does not redial.
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
