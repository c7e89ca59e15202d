import { isBelow } from '@lockstep/shared';
import type { ActionRequest, ActionResult } from '../../sync/ports/folder.ts';
import { isWorthSyncingTogether, syncPath } from '../durable.ts';
import type { FaultPoint } from '../fault-point.ts';
import { byFileSystem, fileSystemOf } from '../mounts/mounts.ts';
import { errorCodeOf, folderMissing, type PathProblem, problemOf } from '../path-problem.ts';
import { absolutePath, type Places, stillThere } from '../places.ts';
import { restoreStateDirectories } from '../state-directories.ts';
import { Commit } from './commit.ts';
import { type KeptVersion, keptVersion } from './history.ts';
import { Staging } from './staging.ts';

/** What came of a batch of actions, in their order, and what it put into history. */
export interface Applied {
  readonly results: readonly ActionResult[];
  readonly kept: readonly KeptVersion[];
}

/**
 * Carries out a batch of actions (the port's `apply`) in the crash-safe order of DESIGN 6: everything is staged and durable
 * before the first name changes, and the names are durable before anything is called done. Runs in a worker.
 */
export function apply(places: Places, requests: readonly ActionRequest[], fault: FaultPoint | undefined): Applied {
  const all = (problem: PathProblem): Applied => ({
    results: requests.map(() => ({ result: 'problem', ...problem }) as const),
    kept: [],
  });
  if (!stillThere(places)) return all(folderMissing);
  const unusable = restoreStateDirectories(places);
  if (unusable !== undefined) return all(unusable);
  const staging = new Staging(places, fault);
  const staged = staging.stage(requests.map(({ action }) => action));
  const commit = new Commit(places, fault);
  const results: ActionResult[] = [];
  const kept: KeptVersion[] = [];
  const touchedBy = new Map<string, number[]>();
  for (const [index, request] of requests.entries()) {
    const { result, touched, kept: content } = commit.run(request, staged[index]);
    results.push(result);
    const version = content && keptVersion(places, content);
    if (version !== undefined) kept.push(version);
    if (result.result !== 'done') staging.discard(staged[index]);
    const { action } = request;
    if (action.do === 'rename-directory' && result.result === 'done') {
      followRename(touchedBy, absolutePath(places.root, action.from), absolutePath(places.root, action.to));
    }
    for (const directory of touched) {
      const indexes = touchedBy.get(directory);
      if (indexes === undefined) touchedBy.set(directory, [index]);
      else indexes.push(index);
    }
  }
  for (const [directory, failure] of syncDirectories(places, [...touchedBy.keys()], fault)) {
    for (const index of touchedBy.get(directory) ?? []) results[index] = failure;
  }
  // Names may have been given in a folder that came to lie elsewhere: what is not certain is not done.
  return stillThere(places) ? { results, kept } : all(folderMissing);
}

/** What was touched in a directory that has been renamed since is to be synced at its new place. */
function followRename(touchedBy: Map<string, number[]>, from: string, to: string): void {
  for (const [directory, indexes] of [...touchedBy]) {
    if (directory !== from && !isBelow(directory, from)) continue;
    touchedBy.delete(directory);
    touchedBy.set(to + directory.slice(from.length), indexes);
  }
}

/** Makes names durable. Returns the directories where that failed: nothing that happened in them may be called done. */
function syncDirectories(
  places: Places,
  directories: readonly string[],
  fault: FaultPoint | undefined,
): ReadonlyMap<string, ActionResult> {
  const { system } = places;
  const failed = new Map<string, ActionResult>();
  if (directories.length === 0) return failed;
  fault?.('fsync-directory');
  const left = [...byFileSystem(places, directories)].flatMap(([fileSystem, group]) =>
    isWorthSyncingTogether(system, group.length) && system.syncFileSystem(fileSystem) ? [] : group,
  );
  for (const directory of left) {
    try {
      syncPath(system, directory);
    } catch (error) {
      // Removed by a later action of the batch, or by a user: then the sync of its own parent counts.
      const code = errorCodeOf(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') continue;
      // A directory that may be written but not read cannot be opened to be synced.
      if (code === 'EACCES' && system.syncFileSystem(fileSystemOf(places, directory))) continue;
      failed.set(directory, { result: 'problem', ...problemOf(error, directory) });
    }
  }
  return failed;
}
