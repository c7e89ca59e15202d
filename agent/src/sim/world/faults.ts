import type { Random } from '../base/random.ts';
import { rotten } from '../disk/content.ts';
import { fingerprintOf, sameFingerprint } from '../disk/inode.ts';
import { durabilityWatch } from './durability-watch.ts';
import { Excuses } from './excuses.ts';
import type { Machine } from './machine.ts';
import { MountFaults } from './mount-faults.ts';
import type { FaultWeights } from './scenario.ts';
import type { World } from './world.ts';

const dayMs = 86_400_000;
const downMsMax = 5_000;
/** A machine that is set back while others are away works before they return. */
const startSoonMsMax = 300;
/** How long each of its branches grows. */
const branchMsMax = 2_000;

/** Injects faults, one after another, until stopped. Then repairs everything that can be repaired. */
export class Faults {
  readonly #world: World;
  readonly #random: Random;
  #working = true;
  /** Machines are copied, and are set back soon. */
  #isForking = false;
  readonly #mounts: MountFaults;
  readonly #excuses: Excuses;

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
    this.#excuses = new Excuses(world);
    this.#mounts = new MountFaults(world, random);
  }

  start(): void {
    const { faultEveryMsMax } = this.#world.scenario;
    if (!Number.isFinite(faultEveryMsMax)) return;
    this.#later(faultEveryMsMax, () => {
      if (!this.#working) return;
      this.strike();
      this.start();
    });
  }

  /** Injects one fault now. */
  strike(): void {
    this.#faults[this.#random.weighted(this.#world.scenario.faults)]();
  }

  /** Ends the agent of one machine, and starts it again later. */
  restart(machine: Machine): void {
    if (!machine.isRunning) return;
    const cutPower = (): void => this.#cutPower(machine);
    const end = this.#random.pick([() => machine.crash(true), () => machine.stop(), cutPower, cutPower, cutPower]);
    this.#restartLater(machine, end);
  }

  /** Restores the network and the disks, and starts the agents of all remaining machines. */
  repair(): void {
    this.#working = false;
    this.#introduce();
    for (const machine of this.#world.remaining) {
      machine.volume.missing = false;
      machine.volume.full = undefined;
      machine.volume.failures = undefined;
      this.#mounts.showHidden(machine);
      machine.crashInside(Number.POSITIVE_INFINITY);
      this.#healAround(machine);
      this.#start(machine);
    }
  }

  /**
   * Flips a bit in some files of one machine. The rows of these files must be certain, since a bit flip in a file just written looks like
   * an edit. Another folder must have the same content, and not drop it.
   */
  rot(): void {
    const { remaining, story, ledger } = this.#world;
    const machine = this.#random.pick(remaining);
    const others = remaining.filter((other) => other !== machine && !other.isOnDemand);
    const elsewhere = new Set(
      others.flatMap(({ volume }) => [...volume.disk.entries()].map(([, inode]) => inode.content?.id)),
    );
    for (const [path, inode] of machine.volume.disk.entries()) {
      const row = machine.journal.disk.at(path);
      const { content } = inode;
      if (content === undefined || content.size === 0 || row?.content !== content.id) continue;
      if (row.racy || row.unconfirmed) continue;
      if (row.fingerprint === undefined || !sameFingerprint(row.fingerprint, fingerprintOf(inode))) continue;
      if (!elsewhere.has(content.id) || !this.#random.chance(0.5)) continue;
      inode.content = rotten(content);
      story.add(machine.name, () => `a bit flips in ${path} (${ledger.nameOf(content.id)})`);
    }
    if (!this.#random.chance(0.5) || !machine.isRunning) return;
    machine.crash(true);
    this.#later(downMsMax, () => this.#start(machine));
  }

  /** Members that were set back may know no address of the others that are left: then no agent finds them, and a person does. */
  #introduce(): void {
    const { remaining } = this.#world;
    const [first] = remaining;
    const met = new Set(first && [first]);
    const isMet = (one: Machine): boolean =>
      [...met].some(
        (other) => other.knownAddresses.includes(one.address) || one.knownAddresses.includes(other.address),
      );
    for (let found = [...met]; found.length > 0; ) {
      found = remaining.filter((machine) => !met.has(machine) && isMet(machine));
      for (const machine of found) met.add(machine);
    }
    if (met.size === remaining.length) return;
    for (const machine of remaining) machine.configure(remaining.map(({ address }) => address));
  }

  #start(machine: Machine): void {
    this.#excuses.starting(machine);
    machine.start();
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
    unmounted: () => this.#withAny((machine) => this.#mounts.unmount(machine)),
    diskMounted: () => this.#withAny((machine) => this.#mounts.mountDisk(machine)),
    diskAway: () => this.#withAny((machine) => this.#mounts.takeDisk(machine)),
    diskHidden: () => this.#withAny((machine) => this.#mounts.hideDirectory(machine)),
    diskFull: () => this.#withAny((machine) => this.#fillDisk(machine)),
    callsFail: () => this.#withAny((machine) => this.#failCalls(machine)),
    journalLost: () => this.#withAny((machine) => this.#loseJournal(machine)),
    snapshot: () => this.#withAny((machine) => this.#copy(machine)),
    setBack: () => this.#setBack(),
    setBackTogether: () => this.#setBackTogether(),
    newcomer: () => this.#world.addNewcomer(),
    wait: () => this.#withRunning((machine) => durabilityWatch(this.#world, machine, () => {})),
    waitThenDestroy: () =>
      this.#withRunning((machine) =>
        durabilityWatch(this.#world, machine, (members) => this.#destroyMinority(members)),
      ),
  };

  #restartLater(machine: Machine, end: () => void): void {
    end();
    this.#later(downMsMax, () => this.#start(machine));
  }

  /** A few effects are a moment, many are a whole batch. */
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
      story.add(machine.name, () => `  loses ${ledger.nameOf(before.id)}: ${now.size} bytes remain`);
    }
  }

  #cutTwo(how: 'refused' | 'silent'): void {
    const [one, other] = this.#random.shuffled(this.#world.remaining);
    if (one !== undefined && other !== undefined) this.#cut(one, other, how, this.#random.between(10, downMsMax));
  }

  #partition(): void {
    const how = this.#random.pick(['refused', 'silent'] as const);
    const side = this.#world.remaining.filter(() => this.#random.chance(0.5));
    const forMs = this.#random.between(10, downMsMax);
    for (const one of side) {
      for (const other of this.#world.remaining) if (!side.includes(other)) this.#cut(one, other, how, forMs);
    }
  }

  #cut(one: Machine, other: Machine, how: 'refused' | 'silent', forMs: number): void {
    const { medium, scheduler, story } = this.#world;
    medium.cut(one.id, other.id, how);
    story.add('', () => `network: ${one.name} and ${other.name} are cut off (${how})`);
    scheduler.after(forMs, () => this.#heal(one, other));
  }

  #heal(one: Machine, other: Machine): void {
    this.#world.medium.heal(one.id, other.id);
    this.#world.story.add('', () => `network: ${one.name} and ${other.name} are connected again`);
  }

  #healAround(machine: Machine): void {
    for (const other of this.#world.machines) if (other !== machine) this.#world.medium.heal(machine.id, other.id);
  }

  #jump(machine: Machine): void {
    const byMs = this.#random.pick([dayMs, -dayMs, 3_000, -3_000, 30, -30]);
    machine.wall.step(byMs);
    this.#world.story.add(machine.name, () => `clock jumps by ${byMs} ms`);
  }

  #fillDisk(machine: Machine): void {
    machine.volume.full = this.#random.pick(['disk', 'quota'] as const);
    this.#world.story.add(machine.name, () => 'disk is full');
    this.#later(downMsMax, () => {
      machine.volume.full = undefined;
      this.#world.story.add(machine.name, () => 'disk has room');
    });
  }

  /** System calls of the agent fail unexpectedly. */
  #failCalls(machine: Machine): void {
    const { volume, name } = machine;
    const code = this.#random.pick(['EIO', 'EACCES'] as const);
    volume.failures = { code, chance: this.#random.pick([0.002, 0.02, 0.2]) };
    this.#world.story.add(name, () => `calls fail with ${code}`);
    this.#later(downMsMax, () => {
      volume.failures = undefined;
      this.#world.story.add(name, () => 'calls succeed again');
    });
  }

  #loseJournal(machine: Machine): void {
    this.#excuses.journalLost(machine, () => machine.loseJournal());
    this.#later(downMsMax, () => this.#start(machine));
  }

  #copy(machine: Machine): void {
    machine.takeSnapshot();
    this.#excuses.copied(machine);
  }

  /** With connections to none, some or all of the others. Operations that no other member has are lost. */
  #setBack(): void {
    const { remaining } = this.#world;
    const copied = remaining.filter(({ hasSnapshot }) => hasSnapshot);
    if (copied.length === 0) return;
    const machine = this.#random.pick(copied);
    const what = this.#random.pick(['all', 'all', 'journal'] as const);
    this.#excuses.setBack([machine], what);
    const alone = this.#random.pick([0, 0.5, 1]);
    const forMs = this.#random.between(10, downMsMax);
    for (const other of this.#world.remaining) {
      if (other !== machine && this.#random.chance(alone)) this.#cut(machine, other, 'refused', forMs);
    }
    this.#restartLater(machine, () => {});
  }

  /**
   * Copies some machines at one moment, and sets them back later, while those that know their newer operations are away. So each confirms
   * the numbers of the others, and the logs fork. A single machine gets a witness, which is away in between and confirms its numbers.
   */
  #setBackTogether(): void {
    const [first, second, ...rest] = this.#random.shuffled(this.#world.remaining);
    if (this.#isForking || first === undefined || second === undefined || rest.length === 0) return;
    this.#isForking = true;
    const isAlone = this.#random.chance(0.5);
    const copied = isAlone ? [first] : [first, second];
    const witnesses = isAlone ? [second] : [];
    const [copiedForMs, awayForMs] = [this.#random.between(50, branchMsMax), this.#random.between(300, branchMsMax)];
    this.#cutBetween(witnesses, [...copied, ...rest], copiedForMs);
    for (const machine of copied) this.#copy(machine);
    this.#world.scheduler.after(copiedForMs, () => {
      this.#isForking = false;
      const isComplete = copied.every(({ hasSnapshot, isDestroyed }) => hasSnapshot && !isDestroyed);
      if (!this.#working || !isComplete) return;
      this.#excuses.setBack(copied, 'all');
      this.#cutBetween(rest, [...copied, ...witnesses], awayForMs);
      for (const machine of copied) this.#later(startSoonMsMax, () => this.#start(machine));
    });
  }

  #cutBetween(some: readonly Machine[], others: readonly Machine[], forMs: number): void {
    for (const one of some) for (const other of others) this.#cut(one, other, 'refused', forMs);
  }

  /** Destroys as many machines as a majority can lose. New ones may replace them. */
  #destroyMinority(members: number): void {
    if (!this.#working) return;
    const { machines, remaining } = this.#world;
    const gone = machines.length - remaining.length;
    const count = Math.min(Math.floor((members - 1) / 2) - gone, remaining.length - 1);
    for (const machine of this.#random.shuffled(remaining).slice(0, Math.max(0, count))) machine.destroy();
    this.#world.releaseLost('destroyed with the only machine that had it');
    if (this.#random.chance(0.5)) this.#world.addNewcomer();
  }

  #withRunning(body: (machine: Machine) => void): void {
    const running = this.#world.remaining.filter(({ isRunning }) => isRunning);
    if (running.length > 0) body(this.#random.pick(running));
  }

  #withAny(body: (machine: Machine) => void): void {
    body(this.#random.pick(this.#world.remaining));
  }

  #later(withinMs: number, body: () => void): void {
    this.#world.scheduler.after(this.#random.between(1, withinMs), body);
  }
}
