import { isBelow, parentOf } from '@lockstep/shared';
import type { Descent } from '../descent.ts';
import type { Places } from '../places.ts';
import type { EntryStats } from '../system-calls.ts';
import type { MountIdentity } from './mount-identity.ts';
import { isElsewhere, isMounted } from './mounts.ts';

/** A directory on the way to a path. `mount`: the changed mount point at or above it. */
interface DirectorySeen {
  readonly isDirectory: boolean;
  readonly dev: number;
  readonly mount?: string | undefined;
}

/**
 * Checks whether paths are on the devices on which they were seen. The results for the directories above are cached, so an instance is used
 * for one batch of observations, a few milliseconds. `apply` uses a new one for each action.
 */
export class MountCheck {
  readonly #places: Places;
  readonly #descent: Descent;
  readonly #accepted: ReadonlyMap<string, MountIdentity>;
  readonly #foreign: ReadonlySet<string>;
  readonly #seen: Map<string, DirectorySeen>;

  constructor(places: Places, descent: Descent) {
    const { rootIdentity, mounts } = places;
    this.#places = places;
    this.#descent = descent;
    this.#accepted = new Map(mounts.accepted.map((mount) => [mount.path, mount]));
    this.#foreign = new Set(mounts.foreign);
    this.#seen = new Map([['', { isDirectory: true, dev: rootIdentity.dev }]]);
  }

  /**
   * The mount point that differs from the known one, at or above `path`, or below it if `path` is not a directory. Undefined if none does.
   * `stats`: those of the entry at `path`. A descent at its directory stays there.
   */
  changed(path: string, stats: EntryStats | undefined): string | undefined {
    if (path === '') return undefined;
    const parent = this.#directory(parentOf(path));
    return parent.mount ?? this.#changedAt(path, stats, parent.dev);
  }

  #directory(path: string): DirectorySeen {
    const known = this.#seen.get(path);
    if (known !== undefined) return known;
    const parent = this.#directory(parentOf(path));
    const stats = parent.isDirectory ? this.#descent.passed(path) : undefined;
    const mount = parent.mount ?? this.#changedAt(path, stats, parent.dev);
    const seen = { isDirectory: stats?.isDirectory() ?? false, dev: stats?.dev ?? 0, mount };
    this.#seen.set(path, seen);
    return seen;
  }

  #changedAt(path: string, stats: EntryStats | undefined, parentDev: number): string | undefined {
    const known = this.#accepted.get(path);
    if (known !== undefined) return this.#isAsKnown(known, stats, parentDev) ? undefined : path;
    if (this.#foreign.has(path)) return path;
    if (stats?.isDirectory()) return stats.dev === parentDev ? undefined : path;
    for (const mount of this.#accepted.values()) {
      if (isBelow(mount.path, path) && !isElsewhere(this.#places, mount, this.#accepted.values())) return mount.path;
    }
    return undefined;
  }

  #isAsKnown(known: MountIdentity, stats: EntryStats | undefined, parentDev: number): boolean {
    return (
      isMounted(this.#places, known, stats, parentDev) ||
      (stats === undefined && isElsewhere(this.#places, known, this.#accepted.values()))
    );
  }
}
