import { eventually } from '../../agent/test/_util/eventually.ts';
import { MemberApi } from '../../agent/test/_util/member-api.ts';
import { run, shell } from '../../agent/test/_util/programs.ts';
import { type LabMember, patienceMs, type Usage } from './lab.ts';

/** Runs docker and answers what it printed. */
export async function docker(...args: readonly string[]): Promise<string> {
  return (await run('docker', args)).trim();
}

interface Place {
  readonly name: string;
  readonly folder: string;
  readonly url: string;
  readonly container: string;
  readonly network: string;
}

/** A member in a container; its folder is one of this machine. */
export class ContainerMember extends MemberApi implements LabMember {
  readonly container: string;
  /** The network that it is in now. */
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
    if (ready) await eventually(() => this.status(), { timeoutMs: patienceMs });
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
    await docker(paused ? 'pause' : 'unpause', this.container);
    this.#paused = paused;
  }

  /** A paused container cannot be removed. */
  async release(): Promise<void> {
    if (this.#paused) await this.pause(false);
  }

  /** What the agent uses, as its container sees it. */
  async usage(): Promise<Usage> {
    const script = 'read -r agent _ < /proc/1/task/1/children; cat /proc/$agent/statm; ls /proc/$agent/fd | wc -l';
    const [statm = '', descriptors = ''] = (await docker('exec', this.container, 'sh', '-c', script)).split('\n');
    return { memoryMiB: (Number(statm.split(' ')[1]) * 4096) / 1024 ** 2, descriptors: Number(descriptors) };
  }

  async log(): Promise<readonly string[]> {
    return (await shell('/', `docker logs --tail 100 ${this.container} 2>&1`)).split('\n');
  }
}
