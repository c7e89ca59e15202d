import { chmod, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../agent/test/_util/eventually.ts';
import { freePort } from '../../agent/test/_util/free-ports.ts';
import { allConnected } from '../../agent/test/_util/level.ts';
import { run } from '../../agent/test/_util/programs.ts';
import { repositoryRoot } from '../../agent/test/_util/repository.ts';
import { ContainerMember, docker } from './container-member.ts';
import { type Lab, type LabMember, LeftOut, patienceMs, type Usage } from './lab.ts';

/** The members that docker-compose.yml knows. */
const services = ['ant', 'bee', 'cat', 'dan', 'eve'] as const;

const linksLeftOut = 'The links of containers cannot be made slow from here: use --local for this drill.';

/** How Compose is called here: as a plugin of docker, or as a program of its own. */
async function findCompose(): Promise<readonly string[] | undefined> {
  for (const [program = '', ...args] of [['docker', 'compose'], ['docker-compose']]) {
    const found = await run(program, [...args, 'version']).catch(() => undefined);
    if (found !== undefined) return [program, ...args];
  }
  return undefined;
}

/** The cluster of docker-compose.yml, as a project of its own with folders, network and ports of its own: no other is touched. */
export class ComposeLab implements Lab {
  readonly members: ContainerMember[] = [];
  readonly #root: string;
  readonly #project: string;
  readonly #compose: readonly string[];
  readonly #env: Readonly<Record<string, string>>;
  readonly #ports: ReadonlyMap<string, number>;
  readonly #splitNetworks: string[] = [];

  private constructor(root: string, compose: readonly string[], ports: ReadonlyMap<string, number>) {
    this.#root = root;
    this.#compose = compose;
    this.#ports = ports;
    // A name that Compose takes as it is: the ends of those of temporary folders may have capitals.
    this.#project = `lockstep-drill-${process.pid}-${ports.get('ant')}`;
    const [uid, gid] = [process.getuid?.() ?? 1000, process.getgid?.() ?? 1000];
    this.#env = {
      LAB: join(root, 'lab'),
      PUID: String(uid),
      PGID: String(gid),
      ...Object.fromEntries([...ports].map(([name, port]) => [`${name.toUpperCase()}_PORT`, String(port)])),
    };
  }

  static async open(names: readonly string[]): Promise<ComposeLab> {
    const lab = await ComposeLab.#create();
    try {
      await lab.#up(names);
      await allConnected(lab.members, patienceMs);
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  static async #create(): Promise<ComposeLab> {
    const compose = await findCompose();
    if (compose === undefined || (await docker('info').catch(() => undefined)) === undefined) {
      throw new LeftOut('No Docker engine with Compose answers here. Start one, or use --local.');
    }
    const root = await realpath(await mkdtemp(join(tmpdir(), 'lockstep-drill-')));
    await chmod(root, 0o755);
    const ports = new Map<string, number>();
    for (const name of services) ports.set(name, await freePort());
    return new ComposeLab(root, compose, ports);
  }

  member(name: string): ContainerMember {
    const member = this.members.find((known) => known.name === name);
    if (member === undefined) throw new Error(`No member is called ${name}`);
    return member;
  }

  outside(member: LabMember): string {
    return join(this.#root, `outside-${member.name}`);
  }

  async freeze(member: LabMember): Promise<void> {
    await this.member(member.name).pause(true);
  }

  async thaw(member: LabMember): Promise<void> {
    await this.member(member.name).pause(false);
  }

  /** The first group stays where it is; each other one is moved to a network of its own. */
  async split(groups: readonly (readonly LabMember[])[]): Promise<void> {
    for (const [index, group] of groups.slice(1).entries()) {
      const network = `${this.#project}-split-${index}`;
      await docker('network', 'create', network);
      this.#splitNetworks.push(network);
      for (const { name } of group) await this.#move(this.member(name), this.#network, network);
    }
    for (const [index, group] of groups.entries()) {
      for (const member of group) await this.#alone(member, groups.filter((_, other) => other !== index).flat());
    }
  }

  async heal(): Promise<void> {
    for (const network of this.#splitNetworks.splice(0)) {
      for (const member of this.members) {
        if (member.network === network) await this.#move(member, network, this.#network);
      }
      await docker('network', 'rm', network);
    }
    await allConnected(
      this.members.filter(({ running }) => running),
      patienceMs,
    );
  }

  shape(): never {
    throw new LeftOut(linksLeftOut);
  }

  get connections(): never {
    throw new LeftOut(linksLeftOut);
  }

  async addNewcomer(name: string): Promise<ContainerMember> {
    await this.#up([name]);
    return this.member(name);
  }

  addOnDisk(): never {
    throw new LeftOut('What is mounted here does not reach into a container that runs: use --local for this drill.');
  }

  async addUnprivileged(name: string): Promise<{
    readonly member: ContainerMember;
    setWritable(writable: boolean): Promise<void>;
  }> {
    const member = await this.addNewcomer(name);
    await allConnected(this.members, patienceMs);
    return { member, setWritable: (writable) => chmod(member.folder, writable ? 0o700 : 0o500) };
  }

  addWithClock(): never {
    throw new LeftOut('Containers have the clock of their machine: use --local for this drill.');
  }

  usage(member: LabMember): Promise<Usage> {
    return this.member(member.name).usage();
  }

  log(member: LabMember): Promise<readonly string[]> {
    return this.member(member.name).log();
  }

  async close(): Promise<void> {
    for (const member of this.members) await member.release();
    await this.#run('down', '--volumes', '--timeout', '5');
    for (const network of this.#splitNetworks.splice(0)) await docker('network', 'rm', network);
    await rm(this.#root, { recursive: true, force: true });
  }

  get #network(): string {
    return `${this.#project}_lab`;
  }

  /** Resolves when this member is connected with none of those. */
  async #alone(member: LabMember, others: readonly LabMember[]): Promise<void> {
    if (!member.running) return;
    await eventually(async () => {
      const seen = (await member.status()).members.filter(({ connected }) => connected).map(({ name }) => name);
      const still = others.filter(({ name }) => seen.includes(name)).map(({ name }) => name);
      if (still.length > 0) throw new Error(`${member.name} is still connected with ${still.join(', ')}`);
    });
  }

  async #move(member: ContainerMember, from: string, to: string): Promise<void> {
    await docker('network', 'disconnect', from, member.container);
    await docker('network', 'connect', '--alias', member.name, to, member.container);
    member.network = to;
  }

  /** Starts these; resolves when each of them answers. */
  async #up(names: readonly string[]): Promise<void> {
    await this.#run('up', '--detach', ...names);
    const added: ContainerMember[] = [];
    for (const name of names) {
      const container = await this.#run('ps', '--quiet', name);
      const url = `http://127.0.0.1:${this.#ports.get(name)}`;
      const folder = join(this.#root, 'lab', name);
      added.push(new ContainerMember({ name, folder, url, container, network: this.#network }));
    }
    this.members.push(...added);
    for (const member of added) await eventually(() => member.status(), { timeoutMs: patienceMs, intervalMs: 200 });
  }

  async #run(...args: readonly string[]): Promise<string> {
    const [program = '', ...rest] = this.#compose;
    const options = ['--project-name', this.#project, '--profile', 'five'];
    return (await run(program, [...rest, ...options, ...args], { cwd: repositoryRoot, env: this.#env })).trim();
  }
}
