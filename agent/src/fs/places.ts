import { type Stats, statSync } from 'node:fs';
import { parentOf } from '@lockstep/shared';
import { lstatIfThere } from './entry-stat.ts';

/** Which directory something was when it was opened. */
export interface DirectoryIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** Where a member's folder and its state lie, and which directories these were when they were opened. */
export interface Places {
  readonly root: string;
  readonly rootIdentity: DirectoryIdentity;
  readonly state: string;
  readonly stateIdentity: DirectoryIdentity;
  readonly staging: string;
  readonly history: string;
  /** For `WatchCookies`. */
  readonly cookies: string;
}

export function identityOf(stats: Stats): DirectoryIdentity {
  return { dev: stats.dev, ino: stats.ino };
}

/**
 * True when folder and state directory are still the ones that were opened. What is seen while they are not says nothing
 * about the folder: an unmounted disk would look like a folder from which everything was deleted.
 */
export function stillThere(places: Places): boolean {
  return isDirectory(places.root, places.rootIdentity) && isDirectory(places.state, places.stateIdentity);
}

function isDirectory(path: string, identity: DirectoryIdentity): boolean {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats?.isDirectory()) return false;
    return stats.dev === identity.dev && stats.ino === identity.ino;
  } catch {
    return false;
  }
}

/** The absolute path of an entry of the folder. */
export function absolutePath(root: string, path: string): string {
  return path === '' ? root : `${root}/${path}`;
}

/**
 * Answers whether directories stand, with no symbolic link among their components, and remembers the answer. One of these
 * lives for one batch of looks, a few milliseconds: what it remembers must not grow old. `apply` asks anew for each action.
 */
export class ParentCheck {
  readonly #root: string;
  readonly #stands = new Map<string, boolean>([['', true]]);

  constructor(root: string) {
    this.#root = root;
  }

  /** True when `path` can exist: every directory above it stands and is no link. */
  parentStands(path: string): boolean {
    return this.#directoryStands(parentOf(path));
  }

  #directoryStands(directory: string): boolean {
    const known = this.#stands.get(directory);
    if (known !== undefined) return known;
    const stands =
      this.#directoryStands(parentOf(directory)) &&
      (lstatIfThere(`${this.#root}/${directory}`)?.isDirectory() ?? false);
    this.#stands.set(directory, stands);
    return stands;
  }
}

/** True when every directory above `path` stands now and none is a symbolic link. */
export function parentStands(root: string, path: string): boolean {
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    if (!lstatIfThere(`${root}/${path.slice(0, slash)}`)?.isDirectory()) return false;
  }
  return true;
}
