import type { ActionRequest, ActionResult } from '../../sync/ports/folder.ts';
import type { FaultPoint } from '../fault-point.ts';
import type { PathProblem } from '../path-problem.ts';
import { folderProblem, type Places } from '../places.ts';
import { restoreStateDirectories } from '../state-directories.ts';
import { Commit } from './commit.ts';
import { type KeptVersion, keptVersion } from './history.ts';
import { Staging } from './staging.ts';
import { TouchedDirectories } from './touched-directories.ts';

/** The results of a batch of actions, in their order, and the versions that it added to history. */
export interface Applied {
  readonly results: readonly ActionResult[];
  readonly kept: readonly KeptVersion[];
}

/**
 * Executes a batch of actions (the port's `apply`) in a crash-safe order. Everything is staged and durable before the first name changes,
 * and the names are durable before any result is `done`. Runs in a worker.
 */
export function apply(places: Places, requests: readonly ActionRequest[], fault: FaultPoint | undefined): Applied {
  const all = (problem: PathProblem): Applied => ({
    results: requests.map(() => ({ result: 'problem', ...problem }) as const),
    kept: [],
  });
  const unusable = folderProblem(places) ?? restoreStateDirectories(places);
  if (unusable !== undefined) return all(unusable);
  const staging = new Staging(places, fault);
  const staged = staging.stage(requests.map(({ action }) => action));
  const commit = new Commit(places, fault);
  const results: ActionResult[] = [];
  const kept: KeptVersion[] = [];
  const touched = new TouchedDirectories(places);
  try {
    for (const [index, request] of requests.entries()) {
      const { result, changedIn, added } = commit.run(request, staged[index]);
      results.push(result);
      const version = added && keptVersion(places, added.content);
      if (version !== undefined) kept.push(version);
      if (result.result !== 'done') staging.discard(staged[index]);
      const { action } = request;
      if (action.do === 'rename-directory' && result.result === 'done') touched.renamed(action.from, action.to);
      for (const directory of changedIn) touched.add(directory, index);
      for (const directory of added?.changedIn ?? []) touched.addOwn(directory, index);
    }
  } finally {
    commit.close();
  }
  if (!touched.isEmpty) fault?.('fsync-directory');
  for (const [index, failure] of touched.sync()) results[index] = failure;
  // If the folder was exchanged or unmounted meanwhile, it is uncertain which names changed: nothing counts as done.
  const away = folderProblem(places);
  return away === undefined ? { results, kept } : all(away);
}
