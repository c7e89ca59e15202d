import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { MemberId } from '@lockstep/shared';
import { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { worldBeganMs } from '../base/sim-clock.ts';
import { Story } from '../base/story.ts';
import { freezeMessage, Medium, type NetworkConduct } from '../network/sim-network.ts';
import { Ledger } from '../users/ledger.ts';
import { UserShell } from '../users/user-shell.ts';
import { JournalShelf } from '../world/journal-shelf.ts';
import { addressOf, Machine, type Surroundings } from '../world/machine.ts';
import type { MachineConduct } from '../world/scenario.ts';

/** How often the simulated time is brought up to the real one. */
const tickMs = 4;

/** So much is made up for at one time before others have their turn: the HTTP server, above all. */
const turnMs = 10;

/**
 * A computer that cannot keep up leaves out the rest, and all simulated clocks are set forward by it, as those of virtual machines that
 * were held for a moment.
 */
const lateMsMax = 200;

/** What happens before simulated time passes as real time does has happened in the last minutes. */
const pastMs = 300_000;

const calm: MachineConduct = {
  watch: { delayMsMax: 2, overflowChance: 0 },
  callMsMax: 0.1,
  keepsBirths: true,
  ordersNames: true,
  canSyncFileSystem: true,
  rots: false,
  faults: { setBack: 0 },
};

export interface LiveClusterOptions {
  /** The first is the one whose address all others are told. */
  readonly names: readonly string[];
  /** How the network behaves between two members, by their names. */
  readonly network?: (a: string, b: string) => NetworkConduct;
  /** Hears of what an agent logged as an error: of nothing, unless there is a defect. */
  readonly failed: (what: string) => void;
}

/**
 * Members that run the real engine over simulated disks and networks, in real time, so that a browser or a test can ask them. What a
 * real cluster meets rarely happens to them on purpose.
 */
export class LiveCluster implements Surroundings {
  readonly scheduler: Scheduler;
  readonly medium: Medium;
  readonly scenario = calm;
  readonly story: Story;
  readonly shelf = new JournalShelf();
  readonly machines: Machine[] = [];
  readonly #failed: (what: string) => void;
  readonly #random = new Random(50);
  readonly #ledger = new Ledger();
  /** What their clocks show beyond simulated time. */
  #offsetMs = Date.now() - pastMs - worldBeganMs;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor({ names, network = () => ({ delayMsMax: 1, bytesPerMs: 1e6 }), failed }: LiveClusterOptions) {
    this.#failed = failed;
    this.scheduler = new Scheduler(this.#random.fork());
    this.story = new Story(false, () => this.scheduler.nowMs);
    this.medium = new Medium({
      scheduler: this.scheduler,
      random: this.#random.fork(),
      conduct: (a, b) => network(this.#nameOf(a), this.#nameOf(b)),
      carrier: freezeMessage,
      observed: () => undefined,
    });
    for (const name of names) this.add(name);
  }

  /** A machine with an empty folder, whose agent is not started. */
  add(name: string): Machine {
    const [first] = this.machines;
    const peers = first === undefined ? [] : [first.address];
    const machine = new Machine({ name, offsetMs: this.#offsetMs, peers, around: this, random: this.#random.fork() });
    this.machines.push(machine);
    return machine;
  }

  /** Whoever sits at that machine. */
  user(name: string): UserShell {
    const { disk } = this.machine(name).volume;
    return new UserShell({ name, disk, ledger: this.#ledger, story: this.story });
  }

  machine(name: string): Machine {
    const found = this.machines.find((machine) => machine.address === addressOf(name));
    if (found === undefined) throw new Error(`the cluster has no machine ${name}`);
    return found;
  }

  /** Lets simulated time pass, as fast as it can, until `condition` holds. */
  async until(condition: () => boolean, msMax = 120_000): Promise<void> {
    const end = await this.scheduler.run(this.scheduler.nowMs + msMax, condition);
    if (end !== 'condition') throw new Error(`what was waited for has not come in ${msMax} simulated milliseconds`);
  }

  /** From now on simulated time passes as real time does. */
  begin(): void {
    this.#running ??= this.#run();
  }

  async close(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
    for (const machine of this.machines) machine.close();
    this.shelf.clear();
  }

  placed(): void {}

  between(): void {}

  followed(): void {}

  replacedUnseen(): void {}

  journaled(): void {}

  failed({ name }: Machine, what: string): void {
    this.#failed(`${name}: ${what}`);
  }

  async #run(): Promise<void> {
    let began = performance.now() - this.scheduler.nowMs;
    this.#setForward(Date.now() - worldBeganMs - this.scheduler.nowMs - this.#offsetMs);
    while (!this.#isStopped) {
      const turnEnds = performance.now() + turnMs;
      const end = await this.scheduler.run(performance.now() - began, () => performance.now() > turnEnds);
      if (end === 'condition') {
        const lateMs = performance.now() - began - this.scheduler.nowMs;
        if (lateMs > lateMsMax) {
          began += lateMs;
          this.#setForward(lateMs);
        }
        await nextTurn();
      } else await wait(tickMs);
    }
  }

  #setForward(ms: number): void {
    this.#offsetMs += ms;
    for (const { wall } of this.machines) wall.offsetMs += ms;
  }

  #nameOf(id: MemberId): string {
    return this.machines.find((machine) => machine.id === id)?.name ?? '';
  }
}
