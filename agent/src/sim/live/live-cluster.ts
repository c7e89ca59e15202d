import { performance } from 'node:perf_hooks';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { type MemberId, transactionRowsMax } from '@lockstep/shared';
import { Random } from '../base/random.ts';
import { Scheduler } from '../base/scheduler.ts';
import { worldBeganMs } from '../base/sim-clock.ts';
import { Story } from '../base/story.ts';
import { freezeMessage, Medium, type NetworkConduct } from '../network/sim-network.ts';
import type { Uplink } from '../network/uplink.ts';
import { Ledger } from '../users/ledger.ts';
import { UserShell } from '../users/user-shell.ts';
import { JournalShelf } from '../world/journal-shelf.ts';
import { addressOf, Machine, type Surroundings } from '../world/machine.ts';
import type { MachineConduct } from '../world/scenario.ts';

/** Interval at which simulated time catches up with real time. */
const tickMs = 4;

/** Simulated time advances for at most this long before other tasks run, above all the HTTP server. */
const turnMs = 10;

/** A computer that is later than this skips the rest: all simulated clocks are set forward, as on virtual machines that were paused. */
const lateMsMax = 200;

/** Simulated time starts this long before real time, for what happens before `begin`. */
const pastMs = 300_000;

const calm: MachineConduct = {
  watch: { delayMsMax: 2, overflowChance: 0 },
  callMsMax: 0.1,
  keepsBirths: true,
  ordersNames: true,
  canSyncFileSystem: true,
  rots: false,
  cacheBytes: 0,
  transactionRows: transactionRowsMax,
  faults: { setBack: 0 },
};

export interface LiveClusterOptions {
  /** All others get the address of the first. */
  readonly names: readonly string[];
  /** The network between two members, by name. */
  readonly network?: (a: string, b: string) => NetworkConduct;
  /** The line that all sessions of a member share, by its name. */
  readonly uplink?: (name: string) => Uplink | undefined;
  /** The room for the contents of members on demand. */
  readonly cacheBytes?: number;
  /** Receives what an agent logs as an error, which only a defect causes. */
  readonly failed: (what: string) => void;
}

/**
 * Members that run the real engine on simulated disks and networks, for a browser, a test or a measurement. They run in real time or at full
 * speed. Events that are rare in a real cluster can be triggered on purpose.
 */
export class LiveCluster implements Surroundings {
  readonly scheduler: Scheduler;
  readonly medium: Medium;
  readonly scenario: MachineConduct;
  readonly story: Story;
  readonly shelf = new JournalShelf();
  readonly machines: Machine[] = [];
  readonly #failed: (what: string) => void;
  readonly #random = new Random(50);
  readonly #ledger = new Ledger();
  /** The offset of their clocks from simulated time. */
  #offsetMs = Date.now() - pastMs - worldBeganMs;
  #running: Promise<void> | undefined;
  #isStopped = false;

  constructor(options: LiveClusterOptions) {
    const { network = () => ({ delayMsMax: 1, bytesPerMs: 1e6 }), uplink = () => undefined, cacheBytes = 0 } = options;
    this.#failed = options.failed;
    this.scenario = { ...calm, cacheBytes };
    this.scheduler = new Scheduler(this.#random.fork());
    this.story = new Story(false, () => this.scheduler.nowMs);
    this.medium = new Medium({
      scheduler: this.scheduler,
      random: this.#random.fork(),
      conduct: (a, b) => network(this.#nameOf(a), this.#nameOf(b)),
      carrier: freezeMessage,
      uplink: (from) => uplink(this.#nameOf(from)),
      observed: () => undefined,
    });
    for (const name of options.names) this.add(name);
  }

  /** A machine with an empty folder, whose agent is not started. */
  add(name: string, { isOnDemand = false } = {}): Machine {
    const [first] = this.machines;
    const peers = first === undefined ? [] : [first.address];
    const [offsetMs, random] = [this.#offsetMs, this.#random.fork()];
    const machine = new Machine({ name, offsetMs, peers, around: this, random, isOnDemand });
    this.machines.push(machine);
    return machine;
  }

  /** The user of that machine. */
  user(name: string): UserShell {
    const { disk } = this.machine(name).volume;
    return new UserShell({ name, disk, ledger: this.#ledger, story: this.story });
  }

  machine(name: string): Machine {
    const found = this.machines.find((machine) => machine.address === addressOf(name));
    if (found === undefined) throw new Error(`the cluster has no machine ${name}`);
    return found;
  }

  /** Runs simulated time at full speed until `condition` holds. */
  async until(condition: () => boolean, msMax = 120_000): Promise<void> {
    const end = await this.scheduler.run(this.scheduler.nowMs + msMax, condition);
    if (end !== 'condition') throw new Error(`the condition did not hold within ${msMax} simulated milliseconds`);
  }

  /** From now on simulated time follows real time. */
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
    for (const { wall } of this.machines) wall.step(ms);
  }

  #nameOf(id: MemberId): string {
    return this.machines.find((machine) => machine.id === id)?.name ?? '';
  }
}
