import { isOneInode } from './entry-stat.ts';
import type { KnownMounts } from './mounts/mount-identity.ts';
import { folderMissing, folderUnusable, type PathProblem } from './path-problem.ts';
import type { BlockHash } from './read/content-id.ts';
import type { EntryStats, OpenDirectory, SystemCalls } from './system-calls.ts';

/** The identity of a directory when it was opened. */
export interface DirectoryIdentity {
  readonly dev: number;
  readonly ino: number;
}

/** The paths and identities of a member's folder and its state when they were opened. Plain values, which can be sent to workers. */
export interface OpenedPlaces {
  readonly root: string;
  /** For the names of conflict copies. */
  readonly memberName: string;
  /** The same without symbolic links, as the kernel reports it. */
  readonly realRoot: string;
  readonly rootIdentity: DirectoryIdentity;
  readonly state: string;
  readonly stateIdentity: DirectoryIdentity;
  readonly staging: string;
  readonly history: string;
  /** For `WatchCookies`. */
  readonly cookies: string;
  /** True if the folder's file system treats `a` and `A` as the same name. */
  readonly foldsCase: boolean;
  /** True if a second name of a file does not show the same file: none is made (`hasUsableLinks`). */
  readonly lacksLinks?: boolean;
  readonly mounts: KnownMounts;
}

/** The same, with the calls that reach them. */
export interface Places extends OpenedPlaces {
  readonly system: SystemCalls;
  readonly hash: BlockHash;
  /** A name in staging, unused since the agent started. */
  readonly temporaryName: () => string;
  /** The folder, open in this job (`withFolderOpen`). Undefined if it is not the one that was opened. */
  readonly top: OpenDirectory | undefined;
  /** Why the system refused to open it. */
  readonly topProblem?: PathProblem | undefined;
}

/** Distinct names with a prefix. */
export function temporaryNames(prefix: string): () => string {
  let given = 0;
  return () => `${prefix}-${++given}`;
}

/** The part that can be sent to a worker. */
export function openedPlaces({ system, hash, temporaryName, top, topProblem, ...opened }: Places): OpenedPlaces {
  return opened;
}

export function identityOf(stats: EntryStats): DirectoryIdentity {
  return { dev: stats.dev, ino: stats.ino };
}

/**
 * Undefined if folder and state directory are still the ones that were opened. Otherwise an observation says nothing about the folder: an
 * unmounted disk would look like a folder from which everything was deleted.
 */
export function folderProblem(places: Places): PathProblem | undefined {
  const { system, root, state, rootIdentity, stateIdentity } = places;
  try {
    const isThere = isSame(system.stat(root), rootIdentity) && isSame(system.stat(state), stateIdentity);
    if (!isThere) return folderMissing;
  } catch (error) {
    return folderUnusable(error);
  }
  return places.top === undefined ? (places.topProblem ?? folderMissing) : undefined;
}

/** True if these are the stats of the directory that was opened. */
export function isSame(stats: EntryStats | undefined, identity: DirectoryIdentity): boolean {
  return stats?.isDirectory() === true && isOneInode(stats, identity);
}

/** The absolute path of an entry of the folder. */
export function absolutePath(root: string, path: string): string {
  return path === '' ? root : `${root}/${path}`;
}

/** True for the state directory, even if it is reached through a mount or by an unknown spelling of its name. */
export function isState({ stateIdentity }: Places, stats: EntryStats): boolean {
  return isOneInode(stats, stateIdentity) && stats.isDirectory();
}
