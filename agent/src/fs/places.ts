import { nameOf, parentOf } from '@lockstep/shared';
import { lstatIfThere } from './entry-stat.ts';
import type { KnownMounts } from './mounts/mounts.ts';
import { errorCodeOf } from './path-problem.ts';
import type { BlockHash } from './read/content-id.ts';
import type { EntryStats, SystemCalls } from './system-calls.ts';

/** Which directory something was when it was opened. */
export interface DirectoryIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** Where a member's folder and its state lie, and which directories these were when they were opened. Plain values, which workers get. */
export interface OpenedPlaces {
  readonly root: string;
  /** For the names of conflict copies. */
  readonly memberName: string;
  /** The same without symbolic links: as the kernel calls it. */
  readonly realRoot: string;
  readonly rootIdentity: DirectoryIdentity;
  readonly state: string;
  readonly stateIdentity: DirectoryIdentity;
  readonly staging: string;
  readonly history: string;
  /** For `WatchCookies`. */
  readonly cookies: string;
  /** The folder's file system takes `a` and `A` for the same name. */
  readonly foldsCase: boolean;
  readonly mounts: KnownMounts;
}

/** The same, and how they are reached. */
export interface Places extends OpenedPlaces {
  readonly system: SystemCalls;
  readonly hash: BlockHash;
  /** A name for an entry of staging that was not given before since the agent started. */
  readonly temporaryName: () => string;
}

/** Names that begin so, each of which is given once. */
export function temporaryNames(prefix: string): () => string {
  let given = 0;
  return () => `${prefix}-${++given}`;
}

/** What of it can be sent to a worker. */
export function openedPlaces({ system, hash, temporaryName, ...opened }: Places): OpenedPlaces {
  return opened;
}

export function identityOf(stats: EntryStats): DirectoryIdentity {
  return { dev: stats.dev, ino: stats.ino };
}

/**
 * True when folder and state directory are still the ones that were opened. What is seen while they are not says nothing
 * about the folder: an unmounted disk would look like a folder from which everything was deleted.
 */
export function stillThere(places: Places): boolean {
  const { system } = places;
  return (
    isDirectory(system, places.root, places.rootIdentity) && isDirectory(system, places.state, places.stateIdentity)
  );
}

function isDirectory(system: SystemCalls, path: string, identity: DirectoryIdentity): boolean {
  try {
    const stats = system.stat(path);
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

/** True when this is the state directory: reached through a mount, or by a spelling of its name that we do not know. */
export function isState({ stateIdentity }: Places, stats: EntryStats): boolean {
  return stats.ino === stateIdentity.ino && stats.dev === stateIdentity.dev && stats.isDirectory();
}

/**
 * Answers whether paths can be reached: every directory above them stands, none is a symbolic link or the state directory, and on a
 * file system that folds case each name is spelled as it is listed. It remembers the answers. One of these lives for one batch of
 * looks, a few milliseconds: what it remembers must not grow old. `apply` asks again for each action.
 */
export class ParentCheck {
  readonly #places: Places;
  readonly #stands = new Map<string, boolean>([['', true]]);
  readonly #names = new Map<string, ReadonlySet<string>>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** True when `path` can exist, and on a file system that folds case also does not exist under another spelling only. */
  isReachable(path: string): boolean {
    return this.#directoryStands(parentOf(path)) && this.#isListed(path);
  }

  #directoryStands(directory: string): boolean {
    const known = this.#stands.get(directory);
    if (known !== undefined) return known;
    const stands =
      this.#directoryStands(parentOf(directory)) && isPassable(this.#places, directory) && this.#isListed(directory);
    this.#stands.set(directory, stands);
    return stands;
  }

  #isListed(path: string): boolean {
    if (!this.#places.foldsCase || path === '') return true;
    const parent = parentOf(path);
    let names = this.#names.get(parent);
    if (names === undefined) {
      names = new Set(namesIn(this.#places, parent));
      this.#names.set(parent, names);
    }
    return names.has(nameOf(path));
  }
}

/** True when every directory above `path` stands now, and none is a symbolic link, the state directory, or spelled otherwise. */
export function isReachable(places: Places, path: string): boolean {
  for (let slash = path.indexOf('/'); slash >= 0; slash = path.indexOf('/', slash + 1)) {
    const directory = path.slice(0, slash);
    if (!isPassable(places, directory) || !isSpelledSo(places, directory)) return false;
  }
  return true;
}

/** False when the entry at `path`, which stands, is listed under another spelling: it is another entry for the other members. */
export function isSpelledSo(places: Places, path: string): boolean {
  return !places.foldsCase || namesIn(places, parentOf(path)).includes(nameOf(path));
}

function isPassable(places: Places, directory: string): boolean {
  const stats = lstatIfThere(places.system, absolutePath(places.root, directory));
  return stats?.isDirectory() === true && !isState(places, stats);
}

function namesIn({ system, root }: Places, directory: string): readonly string[] {
  try {
    return system.readdir(absolutePath(root, directory));
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return [];
    throw error;
  }
}
