import { durabilityWatch } from './durability-watch.ts';
import { valueAt } from './ledger.ts';
import type { Machine } from './machine.ts';
import type { Random } from './random.ts';
import type { FaultWeights } from './scenario.ts';
import type { World } from './world.ts';

const dayMs = 86_400_000;
const downMsMax = 5_000;

/** Makes things go wrong, one after another, until told to stop; then puts right what can be put right. */
export class Faults {
  readonly #world: World;
  readonly #random: Random;
  #working = true;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  start(): void {
    const { faultEveryMsMax, faults } = this.#world.scenario;
    if (!Number.isFinite(faultEveryMsMax)) return;
    this.#later(faultEveryMsMax, () => {
      if (!this.#working) return;
      this.#faults[this.#random.weighted(faults)]();
      this.start();
    });
  }

  /** The network is whole, the disks are there, and every agent runs that still has a machine. */
  repair(): void {
    this.#working = false;
    for (const machine of this.#world.standing) {
      machine.volume.missing = false;
      machine.volume.full = false;
      machine.crashInside(Number.POSITIVE_INFINITY);
      this.#healAround(machine);
      machine.start();
    }
  }

  readonly #faults: Readonly<Record<keyof FaultWeights, () => void>> = {
    killed: () => this.#withRunning((machine) => this.#restartLater(machine, () => machine.crash(true))),
    powerCut: () => this.#withRunning((machine) => this.#restartLater(machine, () => machine.crash(false))),
    crashInside: () => this.#withRunning((machine) => machine.crashInside(this.#random.below(40))),
    stopped: () => this.#withRunning((machine) => this.#restartLater(machine, () => machine.stop())),
    cutRefused: () => this.#cutTwo('refused'),
    cutSilent: () => this.#cutTwo('silent'),
    partition: () => this.#partition(),
    clockJump: () => this.#withAny((machine) => this.#jump(machine)),
    unmounted: () => this.#withAny((machine) => this.#unmount(machine)),
    diskFull: () => this.#withAny((machine) => this.#fillDisk(machine)),
    journalLost: () => this.#withAny((machine) => this.#loseJournal(machine)),
    newcomer: () => this.#world.addNewcomer(),
    wait: () => this.#withRunning((machine) => durabilityWatch(this.#world, machine, () => {})),
    waitThenDestroy: () =>
      this.#withRunning((machine) =>
        durabilityWatch(this.#world, machine, (members) => this.#destroyMinority(members)),
      ),
  };

  #restartLater(machine: Machine, end: () => void): void {
    end();
    this.#later(downMsMax, () => machine.start());
  }

  #cutTwo(how: 'refused' | 'silent'): void {
    const [one, other] = this.#random.shuffled(this.#world.standing);
    if (one !== undefined && other !== undefined) this.#cut(one, other, how, this.#random.between(10, downMsMax));
  }

  #partition(): void {
    const how = this.#random.pick(['refused', 'silent'] as const);
    const side = this.#world.standing.filter(() => this.#random.chance(0.5));
    const forMs = this.#random.between(10, downMsMax);
    for (const one of side) {
      for (const other of this.#world.standing) if (!side.includes(other)) this.#cut(one, other, how, forMs);
    }
  }

  #cut(one: Machine, other: Machine, how: 'refused' | 'silent', forMs: number): void {
    const { medium, scheduler, story } = this.#world;
    medium.cut(one.id, other.id, how);
    story.tell('', () => `network: ${one.name} and ${other.name} are cut off (${how})`);
    scheduler.after(forMs, () => this.#heal(one, other));
  }

  #heal(one: Machine, other: Machine): void {
    this.#world.medium.heal(one.id, other.id);
    this.#world.story.tell('', () => `network: ${one.name} and ${other.name} can talk`);
  }

  #healAround(machine: Machine): void {
    for (const other of this.#world.machines) if (other !== machine) this.#world.medium.heal(machine.id, other.id);
  }

  #jump(machine: Machine): void {
    const byMs = this.#random.pick([dayMs, -dayMs, 3_000, -3_000, 30, -30]);
    machine.wall.offsetMs += byMs;
    this.#world.story.tell(machine.name, () => `clock jumps by ${byMs} ms`);
  }

  #unmount(machine: Machine): void {
    machine.volume.missing = true;
    this.#world.story.tell(machine.name, () => 'folder is unmounted');
    this.#later(downMsMax, () => {
      machine.volume.missing = false;
      this.#world.story.tell(machine.name, () => 'folder is back');
    });
  }

  #fillDisk(machine: Machine): void {
    machine.volume.full = true;
    this.#world.story.tell(machine.name, () => 'disk is full');
    this.#later(downMsMax, () => {
      machine.volume.full = false;
      this.#world.story.tell(machine.name, () => 'disk has room');
    });
  }

  /**
   * An old content that a user put back just before the journal was lost looks like a file that was never brought up to date. No
   * agent could tell; that value is not owed.
   */
  #loseJournal(machine: Machine): void {
    const { ledger, standing } = this.#world;
    for (const [path, inode] of machine.volume.disk.entries()) {
      const { content } = inode;
      if (content === undefined || machine.journal.disk(path)?.content === content.id) continue;
      if (standing.some(({ journal }) => journal.everHad(path, content.id))) {
        ledger.release(valueAt(inode), 'fate', `an old version when ${machine.name} lost its journal`);
      }
    }
    machine.loseJournal();
    this.#later(downMsMax, () => machine.start());
  }

  /** As many machines as a majority can lose. Others take their places. */
  #destroyMinority(members: number): void {
    if (!this.#working) return;
    const { machines, standing } = this.#world;
    const gone = machines.length - standing.length;
    const count = Math.min(Math.floor((members - 1) / 2) - gone, standing.length - 1);
    for (const machine of this.#random.shuffled(standing).slice(0, Math.max(0, count))) machine.destroy();
    this.#world.releaseDestroyed();
    if (this.#random.chance(0.5)) this.#world.addNewcomer();
  }

  #withRunning(body: (machine: Machine) => void): void {
    const running = this.#world.standing.filter(({ isRunning }) => isRunning);
    if (running.length > 0) body(this.#random.pick(running));
  }

  #withAny(body: (machine: Machine) => void): void {
    body(this.#random.pick(this.#world.standing));
  }

  #later(withinMs: number, body: () => void): void {
    this.#world.scheduler.after(this.#random.between(1, withinMs), body);
  }
}
