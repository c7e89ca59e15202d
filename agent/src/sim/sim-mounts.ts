import { isBelow } from '@lockstep/shared';
import type { ChangedMount } from '../sync/ports/folder.ts';
import type { Disk, Inode } from './disk.ts';

/** Which mounts inside the folder were accepted, and which are not what was. It outlives the agent, as its file does. */
export class SimMounts {
  readonly #disk: Disk;
  readonly #accepted = new Map<string, Inode>();

  constructor(disk: Disk) {
    this.#disk = disk;
  }

  /** The mount point at or above `path`, or below it where no directory is at `path`, that is not what is known of it. */
  changed(path: string): string | undefined {
    if (this.#isUnused) return undefined;
    const names = path.split('/');
    for (let count = 1; count <= names.length; count++) {
      const above = names.slice(0, count).join('/');
      const mounted = this.#disk.isMountPoint(above) ? this.#disk.at(above) : undefined;
      if (mounted !== this.#accepted.get(above)) return above;
    }
    if (this.#disk.at(path)?.type === 'directory') return undefined;
    for (const mount of this.#accepted.keys()) if (isBelow(mount, path)) return mount;
    return undefined;
  }

  /** Most runs have no disks inside the folder, and ask at every step. */
  get #isUnused(): boolean {
    return !this.#disk.hasMounts && this.#accepted.size === 0;
  }

  accept(path: string): void {
    const mounted = this.#disk.isMountPoint(path) ? this.#disk.at(path) : undefined;
    if (mounted === undefined) this.#accepted.delete(path);
    else this.#accepted.set(path, mounted);
  }

  check(): readonly ChangedMount[] {
    if (this.#isUnused) return [];
    const points = [...this.#disk.entries()].map(([path]) => path).filter((path) => this.#disk.isMountPoint(path));
    const changed: ChangedMount[] = [];
    for (const path of new Set([...this.#accepted.keys(), ...points])) {
      if (this.changed(path) !== path) continue;
      const now = this.#disk.at(path);
      const detail = `Another disk than before is at ${path}.`;
      changed.push({ path, isNew: !this.#accepted.has(path), ino: now?.number, birthMs: now?.birthMs, detail });
    }
    return changed;
  }
}
