import type { KnownMounts } from './mounts/mounts.ts';
import type { BlockHash } from './read/content-id.ts';
import type { EntryStats, OpenDirectory, SystemCalls } from './system-calls.ts';

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
  /** The folder as it is reached in this job (`withFolderOpen`). Undefined where it is not the one that was opened. */
  readonly top: OpenDirectory | undefined;
}

/** Names that begin so, each of which is given once. */
export function temporaryNames(prefix: string): () => string {
  let given = 0;
  return () => `${prefix}-${++given}`;
}

/** What of it can be sent to a worker. */
export function openedPlaces({ system, hash, temporaryName, top, ...opened }: Places): OpenedPlaces {
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
  const { system, top } = places;
  return (
    top !== undefined &&
    isDirectory(system, places.root, places.rootIdentity) &&
    isDirectory(system, places.state, places.stateIdentity)
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
