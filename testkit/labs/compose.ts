import { chmod } from 'node:fs/promises';
import { join } from 'node:path';
import type { Usage } from '../api.ts';
import { ComposeProject } from '../containers/compose-project.ts';
import { type ContainerMember, docker } from '../containers/container-member.ts';
import { eventually } from '../eventually.ts';
import { allConnected } from '../level.ts';
import { self } from '../machine/person.ts';
import { type Lab, type LabMember, type Need, type Place, patienceMs } from './lab.ts';

/** The needs that containers cannot meet: each would take rights that they do not have. */
const lacking: Readonly<Record<Need, string>> = {
  disk: 'A mount on the host does not reach a running container: use --local for this drill.',
  image: 'A mount on the host does not reach a running container: use --local for this drill.',
  clock: 'Containers have the clock of their machine: use --local for this drill.',
  links: 'The links of containers cannot be slowed down from here: use --local for this drill.',
};

const noEngine = 'No Docker engine with Compose answers here. Start one, or use --local.';

/** Containers cannot be used here; the message says what to do. */
export class NoEngine extends Error {}

async function makeProject(): Promise<ComposeProject> {
  const project = await ComposeProject.make('lockstep-drill', self);
  if (project === undefined) throw new NoEngine(noEngine);
  return project;
}

/** A lab on a `ComposeProject`. */
class ComposeLab implements Lab {
  readonly members: ContainerMember[] = [];
  readonly #project: ComposeProject;
  readonly #splitNetworks: string[] = [];

  private constructor(project: ComposeProject) {
    this.#project = project;
  }

  static async open(names: readonly string[]): Promise<ComposeLab> {
    const lab = new ComposeLab(await makeProject());
    try {
      await lab.#up(names);
      await allConnected(lab.members, patienceMs);
      return lab;
    } catch (error) {
      await lab.close();
      throw error;
    }
  }

  member(name: string): ContainerMember {
    const member = this.members.find((known) => known.name === name);
    if (member === undefined) throw new Error(`There is no member ${name}`);
    return member;
  }

  outside(member: LabMember): string {
    return join(this.#project.root, `outside-${member.name}`);
  }

  async freeze(member: LabMember): Promise<void> {
    await this.member(member.name).pause(true);
  }

  async thaw(member: LabMember): Promise<void> {
    await this.member(member.name).pause(false);
  }

  /** The first group stays in its network; each other group moves to a new one. */
  async split(groups: readonly (readonly LabMember[])[]): Promise<void> {
    for (const [index, group] of groups.slice(1).entries()) {
      const network = `${this.#project.name}-split-${index}`;
      await docker('network', 'create', network);
      this.#splitNetworks.push(network);
      for (const { name } of group) await this.#move(this.member(name), this.#project.network, network);
    }
    for (const [index, group] of groups.entries()) {
      for (const member of group) await this.#alone(member, groups.filter((_, other) => other !== index).flat());
    }
  }

  async heal(): Promise<void> {
    for (const network of this.#splitNetworks.splice(0)) {
      for (const member of this.members) {
        if (member.network === network) await this.#move(member, network, this.#project.network);
      }
      await docker('network', 'rm', network);
    }
    await allConnected(
      this.members.filter(({ running }) => running),
      patienceMs,
    );
  }

  shape(): never {
    throw new Error(lacking.links);
  }

  get connections(): never {
    throw new Error(lacking.links);
  }

  async addNewcomer(name: string): Promise<ContainerMember> {
    await this.#up([name]);
    return this.member(name);
  }

  addOnImage(): never {
    throw new Error(lacking.image);
  }

  addOnDisk(): never {
    throw new Error(lacking.disk);
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
    throw new Error(lacking.clock);
  }

  usage(member: LabMember): Promise<Usage> {
    return this.member(member.name).usage();
  }

  log(member: LabMember): Promise<readonly string[]> {
    return this.member(member.name).log();
  }

  async close(): Promise<void> {
    for (const member of this.members) await member.release();
    await this.#project.close();
    for (const network of this.#splitNetworks.splice(0)) await docker('network', 'rm', network);
  }

  /** Resolves when `member` has a session with none of `others`. */
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

  /** Starts these members; resolves when each of them answers. */
  async #up(names: readonly string[]): Promise<void> {
    await this.#project.compose('--profile', 'five', 'up', '--detach', ...names);
    const added = await Promise.all(names.map((name) => this.#project.member(name)));
    this.members.push(...added);
    for (const member of added) await member.answers();
  }
}

/** The place for drills in containers on this machine. */
export async function composePlace(): Promise<Place> {
  if ((await docker('info').catch(() => undefined)) === undefined) throw new NoEngine(noEngine);
  return { title: 'containers', lacks: (need) => lacking[need], open: (names) => ComposeLab.open(names) };
}
