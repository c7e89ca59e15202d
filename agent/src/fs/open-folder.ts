import { realpathSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import type { BlockBuffers } from '../os/block-buffers.ts';
import type { ReleasedFile } from '../sync/ports/folder.ts';
import type { Log } from '../sync/ports/log.ts';
import { moveFlatHistory } from './apply/history.ts';
import { clearStaging, type ShownFiles } from './apply/left-files.ts';
import { temporaryPath } from './apply/staging.ts';
import { DiskFolder } from './disk-folder.ts';
import { lstatIfThere } from './entry-stat.ts';
import type { ApplyStep } from './fault-point.ts';
import { readAccepted } from './mounts/mount-file.ts';
import { nodeControlCalls, nodeSystemCalls } from './node-system-calls.ts';
import { problemOf } from './path-problem.ts';
import { identityOf, openedPlaces, type Places, temporaryNames } from './places.ts';
import { blockHash } from './read/content-id.ts';
import { removeTree } from './remove.ts';
import { restoreStateDirectories } from './state-directories.ts';
import type { EntryStats, SystemCalls } from './system-calls.ts';
import { hasUsableLinks, withoutLinks } from './usable-links.ts';
import { Watcher } from './watch/watcher.ts';
import { threadsWayOut, WorkerPool } from './worker/worker-pool.ts';

export interface OpenFolderOptions {
  readonly root: string;
  /** `.lockstep`, on the same file system as the folder. */
  readonly stateDirectory: string;
  /** For the names of conflict copies. */
  readonly memberName: string;
  readonly log: Log;
  /** By default none. */
  readonly shown?: ShownFiles | undefined;
  /** The memory for blocks; by default the folder's own. */
  readonly buffers?: BlockBuffers | undefined;
  /** A worker thread ended unexpectedly: the folder is unusable, and the agent must restart. */
  readonly onFatal?: ((error: Error) => void) | undefined;
  /** Called before each step of apply (`applySteps`), which waits for it. For tests. */
  readonly faultPoint?: ((step: ApplyStep) => void) | undefined;
}

/** Opens a member's folder. */
export async function openFolder(options: OpenFolderOptions): Promise<DiskFolder> {
  const { log, faultPoint } = options;
  const root = resolve(options.root);
  const { places: opened, released } = openPlaces({
    root,
    memberName: options.memberName,
    realRoot: () => realpathSync(root),
    state: resolve(options.stateDirectory),
    system: nodeSystemCalls(),
    hash: blockHash,
    // No worker thread has this number.
    temporaryName: temporaryNames('t0'),
    shown: options.shown,
  });
  const lacksLinks = !hasUsableLinks(opened.system, () => temporaryPath(opened));
  const places: Places = lacksLinks ? { ...opened, system: withoutLinks(opened.system), lacksLinks } : opened;
  if (places.foldsCase) log.warn({ root }, `${caseFolding.what} ${caseFolding.remedy}`);
  const onFatal = (error: Error): void => {
    log.error({ error: String(error) }, 'a worker of the folder ended');
    options.onFatal?.(error);
  };
  const onFewer = (error: unknown): void => {
    log.warn(
      { error: String(error) },
      `a second thread for the folder cannot be started, so one does all work: ${threadsWayOut}`,
    );
  };
  return new DiskFolder({
    places,
    released,
    control: nodeControlCalls(),
    workers: new WorkerPool({ places: openedPlaces(places), faultPoint, onFatal, onFewer }),
    buffers: options.buffers,
    watches: (hint) => new Watcher({ places, log, hint }),
  });
}

/**
 * Clears what an earlier agent left in staging and cookies, except blocks that it fetched, and determines the folder's identity. `released`:
 * the files of the folder that lost a name in staging. `shown`: by default none.
 */
export function openPlaces(
  options: Pick<Places, 'root' | 'memberName' | 'state' | 'system' | 'hash' | 'temporaryName'> & {
    readonly realRoot: () => string;
    readonly shown?: ShownFiles | undefined;
  },
): { readonly places: Places; readonly released: readonly ReleasedFile[] } {
  const { realRoot, shown = { withInode: () => [] }, ...given } = options;
  const { root, state, system } = given;
  const rootStats = directoryStats(system, root, `The folder ${root} does not exist. Create it, or mount its disk.`);
  const absent = `${state} is missing, so ${root} is not (or not now) a member's folder.`;
  const stateStats = directoryStats(system, state, absent);
  if (rootStats.dev !== stateStats.dev) {
    throw new LockstepError(
      'folder-not-writable',
      `${state} is on another file system than ${root}. Files could not be put in place in one step: keep both on one.`,
    );
  }
  const places: Places = {
    ...given,
    realRoot: realRoot(),
    top: { path: root, stats: rootStats, close: () => undefined },
    rootIdentity: identityOf(rootStats),
    stateIdentity: identityOf(stateStats),
    staging: `${state}/staging`,
    history: `${state}/history`,
    cookies: `${state}/cookies`,
    foldsCase: foldsCase(system, state),
    mounts: { accepted: readAccepted(system, state), foreign: [] },
  };
  try {
    const released = clearStaging(places, shown);
    removeTree(system, places.cookies);
    const problem = restoreStateDirectories(places);
    if (problem !== undefined) throw new LockstepError('folder-not-writable', problem.detail);
    moveFlatHistory(places);
    return { places, released };
  } catch (error) {
    if (error instanceof LockstepError) throw error;
    // A right may be missing on any of the directories in it.
    throw new LockstepError(
      'folder-not-writable',
      problemOf(error, (error as NodeJS.ErrnoException).path ?? state).detail,
      {
        cause: error,
      },
    );
  }
}

/** The warning for a member on such a file system. */
export const caseFolding = {
  what:
    'The file system of the folder folds case: of two names that differ only in capital letters only one exists here, and the other is a ' +
    'problem.',
  remedy: 'Keep the folder on ext4, xfs or btrfs as they are made by default.',
} as const;

/**
 * True if the directory also exists under its name in capital letters, and is not listed under it. Writes nothing. The inode number does not
 * decide: some file systems that a program serves give each spelling its own.
 */
export function foldsCase(system: SystemCalls, directory: string): boolean {
  const [parent, capitals] = [dirname(directory), basename(directory).toUpperCase()];
  return lstatIfThere(system, `${parent}/${capitals}`) !== undefined && !system.readdir(parent).includes(capitals);
}

function directoryStats(system: SystemCalls, path: string, absent: string): EntryStats {
  const stats = system.stat(path);
  if (!stats?.isDirectory()) throw new LockstepError('folder-not-found', absent);
  return stats;
}
