import { constants } from 'node:fs';
import { nameOf, parentOf } from '@lockstep/shared';
import type { ActionResult, Expected } from '../../sync/ports/folder.ts';
import type { Descent } from '../descent.ts';
import { hasFingerprint, isOneInode, lstatIfThere } from '../entry-stat.ts';
import { MountCheck } from '../mounts/mount-check.ts';
import { mountChanged, reserved, sameName } from '../path-problem.ts';
import { isState, type Places } from '../places.ts';
import type { EntryStats, OpenDirectory, SystemCalls } from '../system-calls.ts';
import { obstacleAt } from './obstacle.ts';
import { permissionsOf } from './permissions.ts';

const ownerMayWrite = 0o200;

/** A directory, at a path for system calls. */
type Directory = Pick<OpenDirectory, 'path' | 'stats'>;

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

/** Runs `change` with the parent directories of its targets made writable, and with the targets as they are then. */
export function withParentsOpen<T>(
  system: SystemCalls,
  targets: readonly Target[],
  change: (targets: readonly Target[]) => T,
): T {
  return withDirectoriesOpen(system, targets.flatMap(parentDirectory), (wereClosed) =>
    // A user may have changed an entry since its directory is writable.
    change(wereClosed ? targets.map((target) => ({ ...target, stats: lstatIfThere(system, target.entry) })) : targets),
  );
}

/** The parent directory of a target. The folder itself is left out: its user made it read-only so that nothing is written there. */
function parentDirectory({ path, descent }: Target): readonly Directory[] {
  const parent = parentOf(path);
  const opened = parent === '' ? undefined : descent.directory(parent);
  return opened === undefined ? [] : [opened];
}

/**
 * Runs `change` with our own read-only directories among `directories` made writable; `wereClosed` if there is one. The write permission is
 * replicated: a member that obeyed it could never apply what another member did there [MT19].
 */
export function withDirectoriesOpen<T>(
  system: SystemCalls,
  directories: readonly Directory[],
  change: (wereClosed: boolean) => T,
): T {
  // Before the first attempt: leftovers of a failed one, such as a second link, would look like a user's change to the next.
  const closeAgain = directories.map((directory) => open(system, directory)).filter((close) => close !== undefined);
  try {
    return change(closeAgain.length > 0);
  } finally {
    for (const close of closeAgain) close();
  }
}

/** Returns a function that makes it read-only again, at any path. Undefined if it is writable, another user's, or may not be read. */
function open(system: SystemCalls, { path, stats }: Directory): (() => void) | undefined {
  if ((stats.mode & ownerMayWrite) !== 0 || stats.uid !== system.effectiveUser()) return undefined;
  const descriptor = descriptorOf(system, path);
  if (descriptor === undefined) return undefined;
  const permissions = permissionsOf(stats.mode);
  system.fchmod(descriptor, permissions | ownerMayWrite);
  return () => {
    system.fchmod(descriptor, permissions);
    system.close(descriptor);
  };
}

function descriptorOf(system: SystemCalls, directory: string): number | undefined {
  try {
    return system.open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    // Missing or unreadable: the error of the change itself is sufficient.
    return undefined;
  }
}
