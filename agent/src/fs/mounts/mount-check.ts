import { isBelow, parentOf } from '@lockstep/shared';
import type { Descent } from '../descent.ts';
import type { Places } from '../places.ts';
import type { EntryStats } from '../system-calls.ts';
import { isElsewhere, isMounted, type MountIdentity } from './mounts.ts';

/** A directory on the way to a path. `mount`: the mount point at or above it that is not what it was. */
interface DirectorySeen {
  readonly stands: boolean;
  readonly dev: number;
  readonly mount?: string | undefined;
}

/**
 * Answers whether paths lie on the devices on which they were seen, and remembers the answers for the directories above them. One of
 * these lives for one batch of looks, a few milliseconds: what it remembers must not grow old. `apply` asks again for each action.
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
    this.#seen = new Map([['', { stands: true, dev: rootIdentity.dev }]]);
  }

  /**
   * The mount point at or above `path`, or below it where no directory is at `path`, that is not what is known of it. Undefined when all is
   * as it was. `stats`: of what is at `path`. Where the descent came to it, it stays there.
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
    const stats = parent.stands ? this.#descent.passed(path) : undefined;
    const mount = parent.mount ?? this.#changedAt(path, stats, parent.dev);
    const seen = { stands: stats?.isDirectory() ?? false, dev: stats?.dev ?? 0, mount };
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
