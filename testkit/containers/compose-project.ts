import { chmod, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { asRoot, type Person } from '../machine/person.ts';
import { run } from '../programs.ts';
import { repositoryRoot } from '../repository.ts';
import { ContainerMember, docker } from './container-member.ts';

/** The members that docker-compose.yml knows. */
const services = ['ant', 'bee', 'cat', 'dan', 'eve'] as const;

const profiles = ['five', 'metrics'] as const;

/** Made by the test that needs it: there may be no registry to have one from. */
export const prometheusImage = 'lockstep-test-prometheus';

/** How Compose is called here: as a plugin of docker, or as a program of its own. */
async function findCompose(): Promise<readonly string[] | undefined> {
  for (const [program = '', ...args] of [['docker', 'compose'], ['docker-compose']]) {
    const found = await run(program, [...args, 'version'], asRoot).catch(() => undefined);
    if (found !== undefined) return [program, ...args];
  }
  return undefined;
}

/** What docker-compose.yml describes, as a project with a name, folders, a network and ports of its own: no other is touched. */
export class ComposeProject {
  readonly name: string;
  /** A temporary folder with the members' folders in `lab`. */
  readonly root: string;
  readonly #program: readonly string[];
  readonly #ports: ReadonlyMap<string, number>;
  readonly #env: Readonly<Record<string, string>>;

  private constructor(
    name: string,
    root: string,
    { program, ports, owner }: { program: readonly string[]; ports: ReadonlyMap<string, number>; owner: Person },
  ) {
    this.name = name;
    this.root = root;
    this.#program = program;
    this.#ports = ports;
    this.#env = {
      LAB: join(root, 'lab'),
      MONITORING: join(root, 'monitoring'),
      PROMETHEUS_IMAGE: prometheusImage,
      PUID: String(owner.uid),
      PGID: String(owner.gid),
      ...Object.fromEntries([...ports].map(([service, port]) => [`${service.toUpperCase()}_PORT`, String(port)])),
    };
  }

  /** Starts nothing yet. Members run as `owner`. Undefined where there is no Compose. */
  static async make(prefix: string, owner: Person): Promise<ComposeProject | undefined> {
    const program = await findCompose();
    if (program === undefined) return undefined;
    const root = await realpath(await mkdtemp(join(tmpdir(), `${prefix}-`)));
    await chmod(root, 0o755);
    const ports = new Map<string, number>();
    for (const name of [...services, 'prometheus', 'grafana']) ports.set(name, await freePort());
    // A name that Compose takes as it is: the ends of those of temporary folders may have capitals.
    return new ComposeProject(`${prefix}-${process.pid}-${ports.get('ant')}`, root, { program, ports, owner });
  }

  get network(): string {
    return `${this.name}_lab`;
  }

  url(service: string): string {
    return `http://127.0.0.1:${this.#ports.get(service)}`;
  }

  /** Runs Compose as a person would in the clone, and answers what it printed. */
  async compose(...args: readonly string[]): Promise<string> {
    const [program = '', ...rest] = [...this.#program, '--project-name', this.name, ...args];
    return (await run(program, rest, { cwd: repositoryRoot, env: this.#env, ...asRoot })).trim();
  }

  /** The id of the container of a service, running or not; empty when there is none. */
  container(service: string): Promise<string> {
    const labels = { project: this.name, service, oneoff: 'False' };
    const filters = Object.entries(labels).map(([key, value]) => `label=com.docker.compose.${key}=${value}`);
    return docker('ps', '--all', '--quiet', '--no-trunc', ...filters.flatMap((filter) => ['--filter', filter]));
  }

  /** The member of this name in the container that it has now. */
  async member(name: string): Promise<ContainerMember> {
    const container = await this.container(name);
    if (container === '') throw new Error(`${name} has no container`);
    const folder = join(this.root, 'lab', name);
    return new ContainerMember({ name, folder, url: `${this.url(name)}/`, container, network: this.network });
  }

  /** Ends and removes everything, images excepted. */
  async close(): Promise<void> {
    const all = profiles.flatMap((profile) => ['--profile', profile]);
    await this.compose(...all, 'down', '--volumes', '--timeout', '5');
    // Some of what is in there may belong to others.
    await run('rm', ['-rf', this.root], asRoot);
  }
}
