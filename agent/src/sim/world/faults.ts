import { dotKey, type Operation } from '@lockstep/shared';
import type { Random } from '../base/random.ts';
import { isZeros, rotten } from '../disk/content.ts';
import { fingerprintOf, sameFingerprint } from '../disk/inode.ts';
import { type ValueKey, valueAt } from '../users/ledger.ts';
import { durabilityWatch, valuesAmong, valuesOn } from './durability-watch.ts';
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
  /** When each machine was last copied, as the ledger counts. */
  readonly #copiedAt = new Map<Machine, number>();

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
    const placesBefore = placesOn(machine);
    for (const { before, now } of machine.powerCut()) {
      // Half of what a user wrote: it is somebody's, so it may be kept, and nobody owes it.
      if (!isZeros(now)) ledger.tore(now);
      story.tell(machine.name, () => `  loses ${ledger.nameOf(before.id)}: ${now.size} bytes are left`);
    }
    ledger.tookBack(machine.name, valuesOn(machine));
    const placesAfter = placesOn(machine);
    for (const value of new Set([...placesBefore.keys(), ...placesAfter.keys()])) {
      if (placesBefore.get(value) !== placesAfter.get(value)) ledger.movedBack(value);
    }
    this.#world.releaseLost('lost in a power cut on the only machine that had it');
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

  /**
   * An old content that a user put back just before the journal was lost looks like a file that was never brought up to date. No
   * agent could tell; that value is not owed.
   */
  #releaseUnjournaled(machine: Machine): void {
    const { ledger, standing } = this.#world;
    for (const [path, inode] of machine.volume.disk.entries()) {
      const { content } = inode;
      if (content === undefined || machine.journal.disk(path)?.content === content.id) continue;
      if (standing.some(({ journal }) => journal.everHad(path, { content: content.id }))) {
        ledger.release(valueAt(inode), 'fate', `an old version when ${machine.name} lost its journal`);
      }
    }
  }

  /** What the agent itself replaced after its old journal was copied looks like a change that a user made knowing of what the journal shows. */
  #releaseReplaced({ name, journal, volume }: Machine): void {
    for (const row of journal.diskBelow('', undefined, Number.MAX_SAFE_INTEGER)) {
      const value = row.content ?? linkValue(journal.operation(row.dot));
      if (value !== undefined && valueAt(volume.disk.at(row.path)) !== value) {
        this.#world.ledger.release(value, 'fate', `replaced before ${name} got an old journal`);
      }
    }
  }

  #loseJournal(machine: Machine): void {
    this.#releaseUnjournaled(machine);
    // Without its rows nobody can tell what a power cut left from what a user wrote.
    for (const [, { content }] of machine.volume.disk.entries()) {
      if (content !== undefined && isZeros(content)) this.#world.ledger.tore(content);
    }
    machine.loseJournal();
    // What a power cut took from its folder, or what lost a conflict and has no copy yet, was in its journal alone.
    this.#world.releaseLost(`lost with the journal of ${machine.name}`);
    this.#later(downMsMax, () => machine.start());
  }

  #copy(machine: Machine): void {
    machine.takeSnapshot();
    this.#copiedAt.set(machine, this.#world.ledger.moment);
  }

  /**
   * What its user let go of and brought back after the copy was made, and nobody else heard of. The copy may hold the value from before
   * that: the others know that it was let go of, and not that it came back. A disk from which it is yet to be deleted does not count.
   */
  #releaseBroughtBack(machine: Machine): void {
    const { ledger, standing } = this.#world;
    const others = standing.filter((other) => other !== machine);
    const elsewhere = valuesAmong(others, (path, operation) =>
      others.some(({ journal }) => {
        const isKnown = journal.operation(operation) !== undefined;
        return isKnown && !journal.heads(path).some((head) => dotKey(head) === dotKey(operation));
      }),
    );
    for (const { key, writer, timesReleased, owedSince } of ledger.owed()) {
      if (writer !== machine.name || timesReleased === 0 || elsewhere.has(key)) continue;
      if (owedSince > (this.#copiedAt.get(machine) ?? 0)) ledger.release(key, 'fate', 'brought back before a set-back');
    }
  }

  /** Alone, among some of the others, or among all of them. What nobody else had heard of is gone. */
  #setBack(): void {
    const { ledger, standing } = this.#world;
    const copied = standing.filter(({ hasSnapshot }) => hasSnapshot);
    if (copied.length === 0) return;
    const machine = this.#random.pick(copied);
    const before = valuesOn(machine);
    const what = this.#random.pick(['all', 'all', 'journal'] as const);
    if (what === 'journal') this.#releaseUnjournaled(machine);
    else this.#releaseBroughtBack(machine);
    machine.setBack(what);
    if (what === 'journal') this.#releaseReplaced(machine);
    ledger.tookBack(machine.name, valuesOn(machine));
    for (const value of before) machine.onceHeld.add(value);
    this.#world.releaseLost(`only ${machine.name} had it, which was set back`);
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

/** The paths and inodes of each value in a machine's folder, as one text. */
function placesOn({ volume }: Machine): ReadonlyMap<ValueKey, string> {
  const places = new Map<ValueKey, string>();
  for (const [path, inode] of volume.disk.entries()) {
    const value = valueAt(inode);
    if (value !== undefined) places.set(value, `${places.get(value) ?? ''}\n${path} ${inode.number}`);
  }
  return places;
}

function linkValue(operation: Operation | undefined): ValueKey | undefined {
  return operation?.target === undefined ? undefined : `link:${operation.target}`;
}
