import { MemberApi, type Usage } from '../api.ts';
import { eventually } from '../eventually.ts';
import { asRoot } from '../machine/person.ts';
import { run } from '../programs.ts';

/** The time within which the agent in a started container answers, even if several start at once. */
const readyTimeoutMs = 120_000;

/** Runs docker and returns its output. */
export async function docker(...args: readonly string[]): Promise<string> {
  return (await run('docker', args, asRoot)).trim();
}

interface Place {
  readonly name: string;
  readonly folder: string;
  readonly url: string;
  readonly container: string;
  readonly network: string;
}

/** A member in a container; its folder is on this machine. */
export class ContainerMember extends MemberApi {
  readonly container: string;
  /** The network to which its container is connected now. */
  network: string;
  #running = true;
  #paused = false;

  constructor({ name, folder, url, container, network }: Place) {
    super(name, folder, url);
    this.container = container;
    this.network = network;
  }

  get running(): boolean {
    return this.#running;
  }

  async start({ ready = true }: { readonly ready?: boolean } = {}): Promise<void> {
    await docker('start', this.container);
    this.#running = true;
    if (ready) await this.answers();
  }

  async answers(): Promise<void> {
    await eventually(() => this.status(), { timeoutMs: readyTimeoutMs, intervalMs: 200 });
  }

  /** Runs a command in the container. */
  exec(...command: readonly string[]): Promise<string> {
    return docker('exec', this.container, ...command);
  }

  /** The output of `docker inspect` for the container, with this template. */
  inspect(template: string): Promise<string> {
    return docker('inspect', '--format', template, this.container);
  }

  async stop(): Promise<void> {
    await docker('stop', this.container);
    this.#running = false;
  }

  async kill(): Promise<void> {
    await docker('kill', this.container);
    this.#running = false;
  }

  async pause(paused: boolean): Promise<void> {
    // Repeated, because on a busy machine the engine gives up if a process does not freeze in time, and leaves it running.
    await eventually(() => docker(paused ? 'pause' : 'unpause', this.container));
    this.#paused = paused;
  }

  /** Unpauses the container: a paused one cannot be removed. */
  async release(): Promise<void> {
    if (this.#paused) await this.pause(false);
  }

  /** The agent's resources, as seen inside its container. */
  async usage(): Promise<Usage> {
    const script = 'read -r agent _ < /proc/1/task/1/children; cat /proc/$agent/statm; ls /proc/$agent/fd | wc -l';
    const [statm = '', descriptors = ''] = (await this.exec('sh', '-c', script)).split('\n');
    return { memoryMiB: (Number(statm.split(' ')[1]) * 4096) / 1024 ** 2, descriptors: Number(descriptors) };
  }

  async log(): Promise<readonly string[]> {
    return (await run('sh', ['-c', `docker logs --tail 100 ${this.container} 2>&1`], asRoot)).split('\n');
  }
}
