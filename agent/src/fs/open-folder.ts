import { mkdirSync, rmSync, type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { LockstepError } from '@lockstep/shared';
import type { Log } from '../sync/ports/log.ts';
import { DiskFolder } from './disk-folder.ts';
import type { ApplyStep } from './fault-point.ts';
import { errorCodeOf } from './path-problem.ts';
import { identityOf, type Places } from './places.ts';

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
    rootIdentity: identityOf(rootStats),
    state,
    stateIdentity: identityOf(stateStats),
    staging: `${state}/staging`,
    history: `${state}/history`,
    cookies: `${state}/cookies`,
  };
  try {
    // Nobody may rely on what was staged before: neither that it is whole nor that it is on the disk.
    for (const left of [places.staging, places.cookies]) rmSync(left, { recursive: true, force: true });
    // For the agent alone: what lies here may come from files that others may not read.
    mkdirSync(places.staging, { mode: 0o700 });
    mkdirSync(places.cookies, { mode: 0o700 });
    mkdirSync(places.history, { mode: 0o700, recursive: true });
  } catch (error) {
    throw new LockstepError(
      'folder-not-writable',
      `${state} cannot be written (${errorCodeOf(error) ?? String(error)}): give the agent's user permission.`,
      { cause: error },
    );
  }
  return new DiskFolder({ ...options, places });
}

function directoryStats(path: string, absent: string): Stats {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) throw new LockstepError('folder-not-found', absent);
  return stats;
}
