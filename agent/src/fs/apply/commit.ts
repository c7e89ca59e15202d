import { type ContentId, isStatePath, nameOf, parentOf } from '@lockstep/shared';
import { type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import type { Action, ActionRequest, ActionResult, Expected } from '../../sync/ports/folder.ts';
import { Descent } from '../descent.ts';
import {
  fingerprintOf,
  hasContentOf,
  hasFingerprint,
  isRacyAfterPlacing,
  isWrittenAs,
  lstatIfThere,
  mtimeUsOf,
} from '../entry-stat.ts';
import type { FaultPoint } from '../fault-point.ts';
import { MountCheck } from '../mounts/mount-check.ts';
import { errorCodeOf, mountChanged, problemOf, reserved, sameName } from '../path-problem.ts';
import { isState, type Places } from '../places.ts';
import { namesBelow } from '../read/list-directory.ts';
import type { EntryStats, OpenDirectory, SystemCalls } from '../system-calls.ts';
import { type Attributes, setAttributes } from './attributes.ts';
import { permissionsOf } from './file-times.ts';
import type { AddedVersion } from './history.ts';
import { obstacleAt, obstacleIn } from './obstacle.ts';
import { withDirectoriesOpen } from './read-only-directories.ts';
import { isWrittenUnseen, keepBeside, linkIfPermitted, ReplacedVersion, TakenVersion } from './replaced-version.ts';
import { isStaged, type StagedEntry, type StageOutcome, temporaryPath } from './staging.ts';

type ActionOf<Do extends Action['do']> = Extract<Action, { do: Do }>;

const changed: ActionResult = { result: 'changed' };

/** The result of one action, the directories to sync before it counts as done, and the content that it added to history. */
export interface Committed {
  readonly result: ActionResult;
  /** Directories of the folder. */
  readonly changedIn: readonly string[];
  readonly added?: AddedVersion | undefined;
}

/** A path of an action. */
interface Target {
  readonly path: string;
  /** See `Descent.entry`: the descent goes to no other directory before the action is over. */
  readonly entry: string;
  /** As of the last check. */
  readonly stats: EntryStats | undefined;
  readonly descent: Descent;
}

/**
 * Renames staged entries into place, one action after the other. The entry at each path, and the way to it, are checked immediately before.
 * `close` it.
 */
export class Commit {
  readonly #places: Places;
  /** One for each path of an action. Most actions of a batch follow others in the same directory. */
  readonly #descents: readonly [Descent, Descent];
  readonly #system: SystemCalls;
  readonly #fault: FaultPoint | undefined;
  #touched: string[] = [];
  #added: AddedVersion | undefined;

  constructor(places: Places, fault: FaultPoint | undefined) {
    this.#places = places;
    this.#system = places.system;
    this.#fault = fault;
    this.#descents = [new Descent(places), new Descent(places)];
  }

  close(): void {
    for (const descent of this.#descents) descent.close();
  }

  run(request: ActionRequest, staged: StageOutcome): Committed {
    if (staged !== undefined && !isStaged(staged)) return { result: staged, changedIn: [] };
    this.#touched = [];
    this.#added = undefined;
    const result = this.#attempt(request, staged);
    return { result, changedIn: this.#touched, added: this.#added };
  }

  #attempt(request: ActionRequest, staged: StagedEntry | undefined): ActionResult {
    const paths = pathsOf(request.action);
    const state = paths.find(isStatePath);
    if (state !== undefined) {
      return { result: 'problem', ...reserved(state) };
    }
    try {
      this.#fault?.('check');
      const targets: Target[] = [];
      for (const [index, path] of paths.entries()) {
        const descent = this.#descents[index === 0 ? 0 : 1];
        descent.renew();
        const entry = descent.entry(path);
        const stats = entry === undefined ? undefined : lstatIfThere(this.#system, entry);
        const mount = new MountCheck(this.#places, descent).changed(path, stats);
        // A changed mount at or above the path: an entry below it would not be on its own disk.
        if (mount !== undefined) return { result: 'problem', ...mountChanged(mount) };
        if (entry !== undefined) targets.push({ path, entry, stats, descent });
      }
      // An action at a path without a parent directory cannot be done. For `rmdir` it already is.
      if (targets.length < paths.length) return request.action.do === 'rmdir' ? { result: 'done' } : changed;
      return withDirectoriesOpen(this.#system, targets.flatMap(parentOpen), () =>
        this.#execute(request, staged, targets),
      );
    } catch (error) {
      const code = errorCodeOf(error);
      // An entry disappeared, or a new one appeared, since the check: a user changed the folder.
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'EISDIR') {
        return changed;
      }
      return { result: 'problem', ...problemOf(error, paths.at(-1) ?? '') };
    }
  }

  #execute(
    { action, keep }: ActionRequest,
    staged: StagedEntry | undefined,
    [target, renamed]: readonly Target[],
  ): ActionResult {
    if (target === undefined) return changed;
    switch (action.do) {
      case 'write':
      case 'symlink':
        return staged === undefined ? changed : this.#place(action, target, staged, keep);
      case 'rename':
        return renamed === undefined ? changed : this.#rename(action, target, renamed, keep);
      case 'rename-directory':
        return renamed === undefined ? changed : this.#renameDirectory(action, target, renamed);
      case 'mkdir':
        return this.#mkdir(action, target, keep);
      case 'attr':
        return this.#attr(action, target);
      case 'unlink':
        return this.#unlink(action, target, keep);
      case 'rmdir':
        return this.#rmdir(target);
    }
  }

  #place(
    action: ActionOf<'write'> | ActionOf<'symlink'>,
    target: Target,
    staged: StagedEntry,
    keep: ContentId | undefined,
  ): ActionResult {
    const { expected } = action;
    const refused = this.#refusal(target, expected);
    if (refused !== undefined) return refused;
    const { entry } = target;
    if (expected === 'absent') this.#placeAsNew(staged.temporary, entry);
    else if (isDirectoryMode(expected.mode)) {
      // No system call exchanges a directory for a file: the name is free for a moment. Only an empty directory can be removed.
      this.#fault?.('remove');
      const obstructed = this.#removeDirectory(target);
      if (obstructed !== undefined) return obstructed;
      this.#placeAsNew(staged.temporary, entry);
    } else if (!this.#replace(staged.temporary, entry, expected, keep)) {
      this.#saveEdit(staged, entry, action.do === 'write' ? action.content : undefined);
      return changed;
    }
    this.#touch(target);
    const stats = lstatIfThere(this.#system, entry);
    return stats !== undefined && hasContentOf(stats, staged.fingerprint)
      ? this.#done(stats)
      : changedSince(staged.fingerprint);
  }

  /** Keeps a staged entry as a conflict copy if a user edited or replaced it while it had its name. */
  #saveEdit({ temporary, fingerprint }: StagedEntry, target: string, content: ContentId | undefined): void {
    const stats = lstatIfThere(this.#system, temporary);
    if (stats === undefined) return;
    const isWritten = content !== undefined && isWrittenUnseen(this.#places, temporary, stats, content);
    if (isWritten || !hasContentOf(stats, fingerprint)) keepBeside(this.#places, temporary, target);
  }

  /** Removes the directory at a path where another entry belongs. A problem if only entries that Lockstep never removes are left in it. */
  #removeDirectory({ path, entry }: Target): ActionResult | undefined {
    try {
      this.#system.rmdir(entry);
      return undefined;
    } catch (error) {
      const obstacle = errorCodeOf(error) === 'ENOTEMPTY' ? obstacleIn(this.#places, path) : undefined;
      if (obstacle === undefined) throw error;
      return { result: 'problem', ...obstacle };
    }
  }

  /** Uses link(2), which fails if an entry appeared at `target` since the check. rename(2) would replace that entry. */
  #placeAsNew(source: string, target: string): void {
    this.#fault?.('rename');
    if (linkIfPermitted(this.#system, source, target)) {
      this.#system.unlink(source);
      return;
    }
    if (lstatIfThere(this.#system, target) !== undefined)
      throw Object.assign(new Error('taken meanwhile'), { code: 'EEXIST' });
    this.#system.rename(source, target);
  }

  /** Replaces by one rename(2). The old version goes to history. False if it was not the expected one. */
  #replace(source: string, target: string, expected: Fingerprint, keep: ContentId | undefined): boolean {
    this.#fault?.('keep');
    const replaced = ReplacedVersion.hold(this.#places, target, expected, keep);
    if (replaced === undefined) return false;
    this.#fault?.('rename');
    try {
      this.#system.rename(source, target);
    } catch (error) {
      replaced.release();
      throw error;
    }
    if (!replaced.isUnchanged()) {
      replaced.putBack(source, target);
      return false;
    }
    replaced.release();
    this.#added = replaced.added;
    return true;
  }

  #rename(action: ActionOf<'rename'>, from: Target, to: Target, keep: ContentId | undefined): ActionResult {
    const { expected } = action;
    const refusedFrom = this.#refusal(from, action.expectedFrom);
    if (refusedFrom !== undefined) return refusedFrom;
    const [source, target] = [from.entry, to.entry];
    if (expected === 'absent' && this.#isSameEntry(from, to)) {
      const aside = temporaryPath(this.#places);
      this.#system.rename(source, aside);
      this.#fault?.('rename');
      this.#placeAsNew(aside, target);
    } else {
      const refusedTo = this.#refusal(to, expected);
      if (refusedTo !== undefined) return refusedTo;
      if (isOneInode(from, to)) {
        // Both are its names: rename(2) would do nothing.
        this.#fault?.('remove');
        this.#system.unlink(source);
      } else if (expected !== 'absent' && !isDirectoryMode(expected.mode)) {
        if (!this.#replace(source, target, expected, keep)) return changed;
      } else {
        const obstructed = expected === 'absent' ? undefined : this.#removeDirectory(to);
        if (obstructed !== undefined) return obstructed;
        this.#fault?.('rename');
        this.#system.rename(source, target);
      }
    }
    this.#touch(from);
    this.#touch(to);
    this.#fault?.('attributes');
    return this.#finish(target, action.expectedFrom, action) ?? changedSince(action.expectedFrom);
  }

  /** True if `target` is only another spelling of `source`, on a file system that folds case. */
  #isSameEntry(source: Target, target: Target): boolean {
    return isOneInode(source, target) && !this.#system.readdir(parentOf(target.entry)).includes(nameOf(target.path));
  }

  #renameDirectory(action: ActionOf<'rename-directory'>, from: Target, to: Target): ActionResult {
    const refused = this.#refusal(from, action.expectedFrom) ?? this.#refusal(to, 'absent');
    if (refused !== undefined) return refused;
    const found = namesBelow(this.#places, action.from);
    if (found === undefined || found.size !== action.names.length) return changed;
    if (!action.names.every((name) => found.has(name))) return changed;
    this.#fault?.('rename');
    // A new parent changes the directory's `..`, a write to it. It is opened after the check: before, it may be another one.
    const stats = lstatIfThere(this.#system, from.entry);
    if (stats?.ino !== action.expectedFrom.ino) return changed;
    withDirectoriesOpen(this.#system, [{ path: from.entry, stats }], () => this.#system.rename(from.entry, to.entry));
    this.#touch(from);
    this.#touch(to);
    this.#fault?.('attributes');
    return this.#finish(to.entry, action.expectedFrom, { mode: action.mode }) ?? changedSince(action.expectedFrom);
  }

  #mkdir({ expected, mode }: ActionOf<'mkdir'>, target: Target, keep: ContentId | undefined): ActionResult {
    const refused = this.#refusal(target, expected);
    if (refused !== undefined) return refused;
    const { entry } = target;
    if (expected !== 'absent' && isDirectoryMode(expected.mode)) {
      return this.#finish(entry, expected, { mode }) ?? changed;
    }
    const taken = expected === 'absent' ? undefined : this.#take(entry, expected, keep);
    if (expected !== 'absent' && taken === undefined) return changed;
    this.#fault?.('rename');
    try {
      this.#system.mkdir(entry, permissionsOf(mode));
    } catch (error) {
      taken?.putBack();
      throw error;
    }
    taken?.drop();
    // The umask of the process has cleared bits.
    this.#system.chmod(entry, permissionsOf(mode));
    this.#touch(target);
    const stats = lstatIfThere(this.#system, entry);
    return stats?.isDirectory() && permissionsOf(stats.mode) === permissionsOf(mode) ? this.#done(stats) : changed;
  }

  #attr(action: ActionOf<'attr'>, target: Target): ActionResult {
    const refused = this.#refusal(target, action.expected);
    if (refused !== undefined) return refused;
    this.#fault?.('attributes');
    return this.#finish(target.entry, action.expected, action) ?? changed;
  }

  #unlink({ expected }: ActionOf<'unlink'>, target: Target, keep: ContentId | undefined): ActionResult {
    const refused = this.#refusal(target, expected);
    if (refused !== undefined) return refused;
    const taken = isDirectoryMode(expected.mode) ? undefined : this.#take(target.entry, expected, keep);
    if (taken === undefined) return changed;
    taken.drop();
    this.#touch(target);
    return { result: 'done' };
  }

  #take(target: string, expected: Fingerprint, keep: ContentId | undefined): TakenVersion | undefined {
    this.#fault?.('remove');
    const taken = TakenVersion.take(this.#places, target, expected, keep);
    this.#added = taken?.added;
    return taken;
  }

  #rmdir(target: Target): ActionResult {
    const { stats } = target;
    // Removed already.
    if (stats === undefined) return { result: 'done' };
    if (!stats.isDirectory() || isState(this.#places, stats)) return changed;
    this.#fault?.('remove');
    this.#system.rmdir(target.entry);
    this.#touch(target);
    return { result: 'done' };
  }

  /** The reason to refuse the action: the entry is not the expected one. Undefined if it is. */
  #refusal({ path, stats, descent }: Target, expected: Expected): ActionResult | undefined {
    if (stats === undefined) return expected === 'absent' ? undefined : changed;
    if (isState(this.#places, stats)) return { result: 'problem', ...reserved(path) };
    if (!descent.isSpelledSo(path)) return expected === 'absent' ? { result: 'problem', ...sameName(path) } : changed;
    if (expected !== 'absent' && hasFingerprint(stats, expected)) return undefined;
    const obstacle = obstacleAt(this.#places, descent, path);
    return obstacle === undefined ? changed : { result: 'problem', ...obstacle };
  }

  /** Sets the attributes of an entry that stays. Undefined if it differs otherwise: a user changed it at this moment. */
  #finish(target: string, expected: Fingerprint, attributes: Attributes): ActionResult | undefined {
    const keptUs = setAttributes(this.#system, target, expected, attributes);
    const stats = lstatIfThere(this.#system, target);
    if (stats?.ino !== expected.ino) return undefined;
    if (permissionsOf(stats.mode) !== permissionsOf(attributes.mode ?? expected.mode)) return undefined;
    if (stats.isDirectory()) return this.#done(stats);
    if (keptUs === undefined) return isWrittenAs(stats, expected) ? this.#done(stats) : undefined;
    if (stats.size !== expected.size || mtimeUsOf(this.#system, target) !== keptUs) return undefined;
    // Setting the time hid any write just before: only reading the file can exclude one.
    return this.#done(stats, true);
  }

  #done(stats: EntryStats, racy = isRacyAfterPlacing(stats, this.#system.wallMs())): ActionResult {
    return { result: 'done', fingerprint: fingerprintOf(stats), racy };
  }

  #touch({ path }: Target): void {
    this.#touched.push(parentOf(path));
  }
}

/** True if both paths are names of one inode. Disks inside the folder have the same inode numbers. */
function isOneInode({ stats: a }: Target, { stats: b }: Target): boolean {
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** The new entry was changed or replaced since: a user's edit, which the next observation finds. */
function changedSince(fingerprint: Fingerprint): ActionResult {
  return { result: 'done', fingerprint, racy: true };
}

function pathsOf(action: Action): readonly string[] {
  return action.do === 'rename' || action.do === 'rename-directory' ? [action.from, action.to] : [action.path];
}

/** The parent directory of a target. The folder itself is left out: its user made it read-only so that nothing is written there. */
function parentOpen({ path, descent }: Target): readonly OpenDirectory[] {
  const parent = parentOf(path);
  const opened = parent === '' ? undefined : descent.directory(parent);
  return opened === undefined ? [] : [opened];
}
