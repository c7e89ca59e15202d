import { isBelow } from '@lockstep/shared';
import type { Random } from '../base/random.ts';
import type { Machine } from './machine.ts';
import type { World } from './world.ts';

/** The longest time for which something is hidden. */
const hiddenMsMax = 5_000;

/** Disks that are mounted inside the folders of machines, or away from them, for a while. */
export class MountFaults {
  readonly #world: World;
  readonly #random: Random;
  /** Repairs of mounts that hide something. */
  readonly #repairs: [machine: Machine, repair: () => void][] = [];

  constructor(world: World, random: Random) {
    this.#world = world;
    this.#random = random;
  }

  /** Takes the folder away, and brings it back later. */
  unmount(machine: Machine): void {
    machine.volume.missing = true;
    this.#world.story.add(machine.name, () => 'folder is unmounted');
    this.#later(() => {
      machine.volume.missing = false;
      this.#world.story.add(machine.name, () => 'folder is back');
    });
  }

  /** A user creates a directory and mounts a new disk there. */
  mountDisk({ volume, name }: Machine): void {
    const path = 'disk';
    if (volume.missing || volume.isHidden || volume.devices.length > 0 || volume.disk.at(path) !== undefined) return;
    volume.disk.mkdir(path);
    const root = volume.disk.newDevice();
    volume.devices.push(root);
    volume.disk.mount(path, root);
    this.#world.story.add(name, () => `a disk is mounted at ${path}`);
  }

  /** Unmounts the disk inside the folder, and mounts it again later. */
  takeDisk(machine: Machine): void {
    const { volume, name } = machine;
    const [root] = volume.devices;
    const path = [...volume.disk.entries()].find(([, inode]) => inode === root)?.[0];
    if (root === undefined || path === undefined || volume.isHidden) return;
    volume.isHidden = true;
    volume.timesHidden += 1;
    volume.disk.unmount(root);
    this.#world.story.add(name, () => `the disk at ${path} is unmounted`);
    this.#repairs.push([
      machine,
      () => {
        const back = this.#mountPointFor(machine, path);
        volume.disk.mount(back, root);
        this.#world.story.add(name, () => `the disk at ${path} is back at ${back}`);
      },
    ]);
    this.#later(() => this.showHidden(machine));
  }

  /**
   * The path at which a disk is mounted again: a new one if its directory was removed meanwhile, or if the agent has put files of others
   * there since. Over these only a person could decide.
   */
  #mountPointFor({ journal, volume: { disk } }: Machine, path: string): string {
    const below = [...disk.entries()].filter(([inside]) => isBelow(inside, path));
    const isUsed = below.some(([inside, { number }]) => journal.disk.at(inside)?.fingerprint?.ino === number);
    if (disk.at(path)?.type === 'directory' && !isUsed) return path;
    let name = 'disk-2';
    while (disk.at(name) !== undefined) name += '-2';
    disk.mkdir(name);
    return name;
  }

  /** Mounts an empty disk over a directory, and unmounts it later. */
  hideDirectory(machine: Machine): void {
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
    this.#world.story.add(name, () => `an empty disk is mounted over ${path}`);
    this.#repairs.push([
      machine,
      () => {
        volume.disk.unmount(root);
        this.#world.story.add(name, () => `the empty disk over ${path} is unmounted`);
      },
    ]);
    this.#later(() => this.showHidden(machine));
  }

  /** Brings back what mounts hide on a machine. */
  showHidden(machine: Machine): void {
    for (const [index, [whose, repair]] of [...this.#repairs.entries()].reverse()) {
      if (whose !== machine) continue;
      this.#repairs.splice(index, 1);
      repair();
      machine.volume.isHidden = false;
    }
  }

  #later(body: () => void): void {
    this.#world.scheduler.after(this.#random.between(1, hiddenMsMax), body);
  }
}
