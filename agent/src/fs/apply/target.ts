import { nameOf, parentOf } from '@lockstep/shared';
import type { ActionResult, Expected } from '../../sync/ports/folder.ts';
import type { Descent } from '../descent.ts';
import { hasFingerprint, isOneInode, lstatIfThere } from '../entry-stat.ts';
import { MountCheck } from '../mounts/mount-check.ts';
import { mountChanged, reserved, sameName } from '../path-problem.ts';
import { isState, type Places } from '../places.ts';
import type { EntryStats, OpenDirectory, SystemCalls } from '../system-calls.ts';
import { obstacleAt } from './obstacle.ts';

/** The result of an action whose entry is not the expected one. */
export const changed: ActionResult = { result: 'changed' };

/** A path of an action. */
export interface Target {
  readonly path: string;
  /** See `Descent.entry`: the descent goes to no other directory before the action is over. */
  readonly entry: string;
  /** As of the last check. */
  readonly stats: EntryStats | undefined;
  readonly descent: Descent;
}

/** Checks the entry at a path, and the way to it. Undefined if the path has no parent directory. */
export function checkTarget(places: Places, descent: Descent, path: string): Target | ActionResult | undefined {
  descent.renew();
  const entry = descent.entry(path);
  const stats = entry === undefined ? undefined : lstatIfThere(places.system, entry);
  const mount = new MountCheck(places, descent).changed(path, stats);
  // A changed mount at or above the path: an entry below it would not be on its own disk.
  if (mount !== undefined) return { result: 'problem', ...mountChanged(mount) };
  return entry === undefined ? undefined : { path, entry, stats, descent };
}

/** The reason to refuse an action: the entry is not the expected one. Undefined if it is. */
export function refusalAt(
  places: Places,
  { path, stats, descent }: Target,
  expected: Expected,
): ActionResult | undefined {
  if (stats === undefined) return expected === 'absent' ? undefined : changed;
  if (isState(places, stats)) return { result: 'problem', ...reserved(path) };
  if (!descent.isSpelledSo(path)) return expected === 'absent' ? { result: 'problem', ...sameName(path) } : changed;
  if (expected !== 'absent' && hasFingerprint(stats, expected)) return undefined;
  const obstacle = obstacleAt(places, descent, path);
  return obstacle === undefined ? changed : { result: 'problem', ...obstacle };
}

/** True if `target` is only another spelling of `source`, on a file system that folds case. */
export function isSameEntry(system: SystemCalls, source: Target, target: Target): boolean {
  return (
    isOneInode(source.stats, target.stats) && !system.readdir(parentOf(target.entry)).includes(nameOf(target.path))
  );
}

/** The parent directory of a target. The folder itself is left out: its user made it read-only so that nothing is written there. */
export function parentOpen({ path, descent }: Target): readonly OpenDirectory[] {
  const parent = parentOf(path);
  const opened = parent === '' ? undefined : descent.directory(parent);
  return opened === undefined ? [] : [opened];
}
