import { realpathSync, rmSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import type { Log } from '../sync/ports/log.ts';
import { moveFlatHistory } from './apply/history.ts';
import { DiskFolder } from './disk-folder.ts';
import { lstatIfThere } from './entry-stat.ts';
import type { ApplyStep } from './fault-point.ts';
import { readAccepted } from './mounts/mount-file.ts';
import { errorCodeOf } from './path-problem.ts';
import { identityOf, type Places } from './places.ts';
import { restoreStateDirectories } from './state-directories.ts';

export interface OpenFolderOptions {
  readonly root: string;
  /** `.lockstep`, on the same file system as the folder. */
  readonly stateDirectory: string;
  readonly log: Log;
  /** A worker thread ended by itself: the folder can do nothing any more, and the agent must start anew. */
  readonly onFatal?: ((error: Error) => void) | undefined;
  /** Called before each step of apply (`applySteps`), which waits for it: for tests. */
  readonly faultPoint?: ((step: ApplyStep) => void) | undefined;
}

/** Opens a member's folder: clears what an earlier agent left in staging and cookies, and remembers which folder this is. */
export async function openFolder(options: OpenFolderOptions): Promise<DiskFolder> {
  const { log } = options;
  const root = resolve(options.root);
  const state = resolve(options.stateDirectory);
  const rootStats = directoryStats(root, `The folder ${root} does not exist. Create it, or mount its disk.`);
  const stateStats = directoryStats(state, `${state} is missing, so ${root} is not (or not now) a member's folder.`);
  if (rootStats.dev !== stateStats.dev) {
    throw new LockstepError(
      'folder-not-writable',
      `${state} lies on another file system than ${root}. Files could not be put in place in one step: keep both on one.`,
    );
  }
  const places: Places = {
    root,
    realRoot: realpathSync(root),
    rootIdentity: identityOf(rootStats),
    state,
    stateIdentity: identityOf(stateStats),
    staging: `${state}/staging`,
    history: `${state}/history`,
    cookies: `${state}/cookies`,
    foldsCase: foldsCase(state),
    mounts: { accepted: readAccepted(state), foreign: [] },
  };
  if (places.foldsCase) log.warn({ root }, `${caseFolding.what} ${caseFolding.remedy}`);
  try {
    // Nobody may rely on what was staged before: neither that it is whole nor that it is on the disk.
    for (const left of [places.staging, places.cookies]) rmSync(left, { recursive: true, force: true });
    const problem = restoreStateDirectories(places);
    if (problem !== undefined) throw new LockstepError('folder-not-writable', problem.detail);
    moveFlatHistory(places);
  } catch (error) {
    if (error instanceof LockstepError) throw error;
    throw new LockstepError(
      'folder-not-writable',
      `${state} cannot be written (${errorCodeOf(error) ?? String(error)}): give the agent's user permission.`,
      { cause: error },
    );
  }
  return new DiskFolder({ ...options, places });
}

/** What a member on such a file system must know. */
export const caseFolding = {
  what:
    'The file system of the folder folds case: of two names that differ only in capital letters one is shown here, and the other is a ' +
    'problem.',
  remedy: 'Keep the folder on ext4, xfs or btrfs as they are made by default.',
} as const;

/** True when the directory is also found under its name in capital letters. Nothing is written for that. */
export function foldsCase(directory: string): boolean {
  const capitals = `${dirname(directory)}/${basename(directory).toUpperCase()}`;
  const [stats, same] = [lstatIfThere(directory), lstatIfThere(capitals)];
  return stats !== undefined && same?.ino === stats.ino && same.dev === stats.dev;
}

function directoryStats(path: string, absent: string): Stats {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) throw new LockstepError('folder-not-found', absent);
  return stats;
}
