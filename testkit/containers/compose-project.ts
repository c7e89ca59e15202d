import { chmod, mkdtemp, realpath } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { asRoot, type Person } from '../machine/person.ts';
import { run } from '../programs.ts';
import { repositoryRoot } from '../repository.ts';
import { ContainerMember, docker } from './container-member.ts';

/** The members in docker-compose.yml. */
const services = ['ant', 'bee', 'cat', 'dog', 'elk'] as const;

const profiles = ['five', 'metrics'] as const;

/** The name of an image that the test makes itself: a registry may not be reachable. */
export const prometheusImage = 'lockstep-test-prometheus';

/** The command for Compose, which may be a plugin of docker or a separate program; undefined if there is none. */
async function findCompose(): Promise<readonly string[] | undefined> {
  for (const [program = '', ...args] of [['docker', 'compose'], ['docker-compose']]) {
    const found = await run(program, [...args, 'version'], asRoot).catch(() => undefined);
    if (found !== undefined) return [program, ...args];
  }
  return undefined;
}

/** The cluster of docker-compose.yml as a project with its own name, folders, network and ports: no other project is affected. */
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

  /** Makes the project without starting anything. Members run as `owner`. Undefined if there is no Compose. */
  static async make(prefix: string, owner: Person): Promise<ComposeProject | undefined> {
    const program = await findCompose();
    if (program === undefined) return undefined;
    const root = await realpath(await mkdtemp(join(tmpdir(), `${prefix}-`)));
    await chmod(root, 0o755);
    const ports = new Map<string, number>();
    for (const name of [...services, 'prometheus', 'grafana']) ports.set(name, await freePort());
    // Not the name of the temporary folder: that may contain capital letters, which Compose does not accept.
    return new ComposeProject(`${prefix}-${process.pid}-${ports.get('ant')}`, root, { program, ports, owner });
  }

  get network(): string {
    return `${this.name}_lab`;
  }

  url(service: string): string {
    return `http://127.0.0.1:${this.#ports.get(service)}`;
  }

  /** Runs Compose as a user would in the clone, and returns its output. */
  async compose(...args: readonly string[]): Promise<string> {
    const [program = '', ...rest] = [...this.#program, '--project-name', this.name, ...args];
    return (await run(program, rest, { cwd: repositoryRoot, env: this.#env, ...asRoot })).trim();
  }

  /** The id of a service's container, running or not; empty if there is none. */
  container(service: string): Promise<string> {
    const labels = { project: this.name, service, oneoff: 'False' };
    const filters = Object.entries(labels).map(([key, value]) => `label=com.docker.compose.${key}=${value}`);
    return docker('ps', '--all', '--quiet', '--no-trunc', ...filters.flatMap((filter) => ['--filter', filter]));
  }

  /** The member of this name in its current container. */
  async member(name: string): Promise<ContainerMember> {
    const container = await this.container(name);
    if (container === '') throw new Error(`${name} has no container`);
    const folder = join(this.root, 'lab', name);
    return new ContainerMember({ name, folder, url: `${this.url(name)}/`, container, network: this.network });
  }

  /** Ends and removes everything except images. */
  async close(): Promise<void> {
    const all = profiles.flatMap((profile) => ['--profile', profile]);
    await this.compose(...all, 'down', '--volumes', '--timeout', '5');
    // Some of its files may belong to other users.
    await run('rm', ['-rf', this.root], asRoot);
  }
}
