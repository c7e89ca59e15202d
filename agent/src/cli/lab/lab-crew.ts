import { join } from 'node:path';
import { describeRunning, findRunning } from '../../member-dir/instance-lock.ts';
import { printable } from '../output/format.ts';
import type { LabMember } from './lab-plan.ts';
import { type LabProcess, startLabProcess } from './lab-process.ts';

/** The processes of the lab's members. */
export class LabCrew {
  readonly #members: readonly LabMember[];
  readonly #logs: string;
  readonly #print: (line: string) => void;
  readonly #running = new Map<LabMember, LabProcess>();
  #isStopping = false;

  /** `logs`: the directory of the members' logs. `print` gets a line for each process that ends without being stopped. */
  constructor(members: readonly LabMember[], logs: string, print: (line: string) => void) {
    this.#members = members;
    this.#logs = logs;
    this.#print = print;
  }

  /** Starts a process for each member; resolves with whether any of them got ready. */
  async start(): Promise<boolean> {
    const ready = await Promise.all(this.#members.map((member) => this.#start(member)));
    return ready.includes(true);
  }

  /** Starts the members again for which no process runs, here or started by hand. Resolves with their names. */
  async restart(): Promise<readonly string[]> {
    const ended: LabMember[] = [];
    for (const member of this.#members) {
      if (!this.#running.has(member) && (await runningElsewhere(member)) === undefined) ended.push(member);
    }
    if (this.#isStopping) return [];
    // Another press of the key may have started some of them meanwhile.
    const started = ended.filter((member) => !this.#running.has(member));
    for (const member of started) void this.#start(member);
    return started.map(({ name }) => name);
  }

  pid(member: LabMember): number | undefined {
    return this.#running.get(member)?.pid;
  }

  /** Stops the processes of the lab. Resolves with a sentence for each member that still runs, because it was started by hand. */
  async stop(): Promise<readonly string[]> {
    this.#isStopping = true;
    const processes = [...this.#running.values()];
    for (const process of processes) process.stop();
    await Promise.all(processes.map(({ ended }) => ended));
    const left = await Promise.all(this.#members.map(runningElsewhere));
    return left.filter((sentence) => sentence !== undefined);
  }

  async #start(member: LabMember): Promise<boolean> {
    const process = startLabProcess(member, join(this.#logs, `${member.name}.log`));
    this.#running.set(member, process);
    const ended = process.ended.then(({ how, lastWords }) => {
      this.#running.delete(member);
      if (this.#isStopping) return false;
      const words = lastWords === undefined ? '' : ` Its last line: ${printable(lastWords)}`;
      const again = `To start it again: r and Enter, or npx lockstep up ${member.directory}`;
      this.#print(`${member.name} ended (${how}).${words} ${again}`);
      return false;
    });
    return Promise.race([process.ready.then(() => true), ended]);
  }
}

/** How to stop the process of a member; undefined if none runs. */
async function runningElsewhere({ name, directory }: LabMember): Promise<string | undefined> {
  const running = await findRunning(directory).catch(() => 'unknown' as const);
  if (running === undefined) return undefined;
  if (running === 'unknown') return `${name} still runs in a process that is not known.`;
  const { who, stop } = describeRunning(running);
  return `${name} still runs (${who}), and was not started here. To stop it: ${stop}`;
}
