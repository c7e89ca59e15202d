import type { Random } from '../base/random.ts';
import { rotten } from '../disk/content.ts';
import { fingerprintOf, sameFingerprint } from '../disk/inode.ts';
import { durabilityWatch } from './durability-watch.ts';
import { Excuses } from './excuses.ts';
import type { Machine } from './machine.ts';
import type { FaultWeights } from './scenario.ts';
import type { World } from './world.ts';

const dayMs = 86_400_000;
const downMsMax = 5_000;

/** Makes things go wrong, one after another, until told to stop; then puts right what can be put right. */
export class Faults {
  readonly #world: World;
  readonly #random: Random;
  #working = true;
  /** What shows again what a machine's mounts hide. */
  readonly #repairs: [machine: Machine, repair: () => void][] = [];
  readonly #excuses: Excuses;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#excuses = new Excuses(world);
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
      machine.volume.full = undefined;
      machine.volume.failures = undefined;
      this.#showHidden(machine);
      machine.crashInside(Number.POSITIVE_INFINITY);
      this.#healAround(machine);
      machine.start();
    }
  }

  /**
   * Flips a bit in some files of one machine. Only in those whose rows are sure of them, since a change of a file that was written this
   * moment cannot be told from an edit; and only of contents that another folder has as well.
   */
  rot(): void {
    const { standing, story, ledger } = this.#world;
    const machine = this.#random.pick(standing);
    const others = standing.filter((other) => other !== machine);
    const elsewhere = new Set(
      others.flatMap(({ volume }) => [...volume.disk.entries()].map(([, inode]) => inode.content?.id)),
    );
    for (const [path, inode] of machine.volume.disk.entries()) {
      const row = machine.journal.disk(path);
      const { content } = inode;
      if (content === undefined || content.size === 0 || row?.content !== content.id) continue;
      if (row.racy || row.unconfirmed) continue;
      if (row.fingerprint === undefined || !sameFingerprint(row.fingerprint, fingerprintOf(inode))) continue;
      if (!elsewhere.has(content.id) || !this.#random.chance(0.5)) continue;
      inode.content = rotten(content);
      story.tell(machine.name, () => `a bit flips in ${path} (${ledger.nameOf(content.id)})`);
    }
    if (!this.#random.chance(0.5) || !machine.isRunning) return;
    machine.crash(true);
    this.#later(downMsMax, () => machine.start());
  }

  readonly #faults: Readonly<Record<keyof FaultWeights, () => void>> = {
    killed: () => this.#withRunning((machine) => this.#restartLater(machine, () => machine.crash(true))),
    powerCut: () => this.#withRunning((machine) => this.#restartLater(machine, () => this.#cutPower(machine))),
    crashInside: () => this.#withRunning((machine) => machine.crashInside(this.#random.below(this.#effectsMax()))),
    powerCutInside: () =>
      this.#withRunning((machine) =>
        machine.crashInside(this.#random.below(this.#effectsMax()), () => this.#losePower(machine)),
      ),
    stopped: () => this.#withRunning((machine) => this.#restartLater(machine, () => machine.stop())),
    cutRefused: () => this.#cutTwo('refused'),
    cutSilent: () => this.#cutTwo('silent'),
    partition: () => this.#partition(),
    clockJump: () => this.#withAny((machine) => this.#jump(machine)),
    unmounted: () => this.#withAny((machine) => this.#unmount(machine)),
    diskMounted: () => this.#withAny((machine) => this.#mountDisk(machine)),
    diskAway: () => this.#withAny((machine) => this.#takeDisk(machine)),
    diskHidden: () => this.#withAny((machine) => this.#hideDirectory(machine)),
    diskFull: () => this.#withAny((machine) => this.#fillDisk(machine)),
    callsFail: () => this.#withAny((machine) => this.#failCalls(machine)),
    journalLost: () => this.#withAny((machine) => this.#loseJournal(machine)),
    snapshot: () => this.#withAny((machine) => this.#copy(machine)),
    setBack: () => this.#setBack(),
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

  /** Some effects are a moment, and some a whole batch. */
  #effectsMax(): number {
    return this.#random.pick([40, 400]);
  }

  #cutPower(machine: Machine): void {
    machine.crash(false);
    this.#losePower(machine);
  }

  #losePower(machine: Machine): void {
    const { story, ledger } = this.#world;
    for (const { before, now } of this.#excuses.powerCut(machine, () => machine.powerCut())) {
      story.tell(machine.name, () => `  loses ${ledger.nameOf(before.id)}: ${now.size} bytes are left`);
    }
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

  /** A person makes a directory and mounts a new disk there. */
  #mountDisk({ volume, name }: Machine): void {
    const path = 'disk';
    if (volume.missing || volume.isHidden || volume.devices.length > 0 || volume.disk.at(path) !== undefined) return;
    volume.disk.mkdir(path);
    const root = volume.disk.newDevice();
    volume.devices.push(root);
    volume.disk.mount(path, root);
    this.#world.story.tell(name, () => `a disk is mounted at ${path}`);
  }

  /** The disk inside the folder is unmounted, and mounted again later. */
  #takeDisk(machine: Machine): void {
    const { volume, name } = machine;
    const [root] = volume.devices;
    const path = [...volume.disk.entries()].find(([, inode]) => inode === root)?.[0];
    if (root === undefined || path === undefined || volume.isHidden) return;
    volume.isHidden = true;
    volume.timesHidden += 1;
    volume.disk.unmount(root);
    this.#world.story.tell(name, () => `the disk at ${path} is unmounted`);
    this.#repairs.push([
      machine,
      () => {
        const back = this.#mountPointFor(machine, path);
        volume.disk.mount(back, root);
        this.#world.story.tell(name, () => `the disk at ${path} is back at ${back}`);
      },
    ]);
    this.#later(downMsMax, () => this.#showHidden(machine));
  }

  /** Where a disk is mounted again: at a new name when its directory is gone meanwhile. */
  #mountPointFor({ volume: { disk } }: Machine, path: string): string {
    if (disk.at(path)?.type === 'directory') return path;
    let name = 'disk-2';
    while (disk.at(name) !== undefined) name += '-2';
    disk.mkdir(name);
    return name;
  }

  /** An empty disk is mounted over a directory, and unmounted later. */
  #hideDirectory(machine: Machine): void {
    const { volume, name } = machine;
    const directories = [...volume.disk.entries()].filter(
      ([, { children }]) => children !== undefined && children.size > 0,
    );
    if (directories.length === 0 || volume.isHidden || volume.missing) return;
    const [path] = this.#random.pick(directories);
    const root = volume.disk.newDevice();
    volume.isHidden = true;
    volume.timesHidden += 1;
    volume.disk.mount(path, root);
    this.#world.story.tell(name, () => `an empty disk is mounted over ${path}`);
    this.#repairs.push([
      machine,
      () => {
        volume.disk.unmount(root);
        this.#world.story.tell(name, () => `the empty disk over ${path} is unmounted`);
      },
    ]);
    this.#later(downMsMax, () => this.#showHidden(machine));
  }

  #showHidden(machine: Machine): void {
    for (const [index, [whose, repair]] of [...this.#repairs.entries()].reverse()) {
      if (whose !== machine) continue;
      this.#repairs.splice(index, 1);
      repair();
      machine.volume.isHidden = false;
    }
  }

  #fillDisk(machine: Machine): void {
    machine.volume.full = this.#random.pick(['disk', 'quota'] as const);
    this.#world.story.tell(machine.name, () => 'disk is full');
    this.#later(downMsMax, () => {
      machine.volume.full = undefined;
      this.#world.story.tell(machine.name, () => 'disk has room');
    });
  }

  /** The agent gets errors where it expects none. */
  #failCalls(machine: Machine): void {
    const { volume, name } = machine;
    const code = this.#random.pick(['EIO', 'EACCES'] as const);
    volume.failures = { code, chance: this.#random.pick([0.002, 0.02, 0.2]) };
    this.#world.story.tell(name, () => `calls fail with ${code}`);
    this.#later(downMsMax, () => {
      volume.failures = undefined;
      this.#world.story.tell(name, () => 'calls fail no more');
    });
  }

  #loseJournal(machine: Machine): void {
    this.#excuses.journalLost(machine, () => machine.loseJournal());
    this.#later(downMsMax, () => machine.start());
  }

  #copy(machine: Machine): void {
    machine.takeSnapshot();
    this.#excuses.copied(machine);
  }

  /** Alone, among some of the others, or among all of them. What nobody else had heard of is gone. */
  #setBack(): void {
    const { standing } = this.#world;
    const copied = standing.filter(({ hasSnapshot }) => hasSnapshot);
    if (copied.length === 0) return;
    const machine = this.#random.pick(copied);
    const what = this.#random.pick(['all', 'all', 'journal'] as const);
    this.#excuses.setBack(machine, what, () => machine.setBack(what));
    const alone = this.#random.pick([0, 0.5, 1]);
    const forMs = this.#random.between(10, downMsMax);
    for (const other of this.#world.standing) {
      if (other !== machine && this.#random.chance(alone)) this.#cut(machine, other, 'refused', forMs);
    }
    this.#restartLater(machine, () => {});
  }

  /** As many machines as a majority can lose. Others take their places. */
  #destroyMinority(members: number): void {
    if (!this.#working) return;
    const { machines, standing } = this.#world;
    const gone = machines.length - standing.length;
    const count = Math.min(Math.floor((members - 1) / 2) - gone, standing.length - 1);
    for (const machine of this.#random.shuffled(standing).slice(0, Math.max(0, count))) machine.destroy();
    this.#world.releaseLost('destroyed with the only machine that had it');
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
