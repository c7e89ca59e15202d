import { type ContentId, isStatePath, parentOf } from '@lockstep/shared';
import { type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { Action, ActionRequest, ActionResult } from '../../sync/ports/folder.ts';
import { Descent } from '../descent.ts';
import {
  fingerprintOf,
  hasContentOf,
  isOneInode,
  isRacyAfterPlacing,
  isWrittenAs,
  lstatIfThere,
  mtimeUsOf,
} from '../entry-stat.ts';
import type { FaultPoint } from '../fault-point.ts';
import { noSuchName, type PathProblem, problemOf, reserved } from '../path-problem.ts';
import { isState, type Places } from '../places.ts';
import { namesBelow } from '../read/list-directory.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';
import { type Attributes, setAttributes } from './attributes.ts';
import type { AddedVersion } from './history.ts';
import { obstacleIn } from './obstacle.ts';
import { permissionsOf, withPermissions } from './permissions.ts';
import { Placing } from './placing.ts';
import { isStaged, type StagedEntry, type StageOutcome, takenPath } from './staging.ts';
import {
  changed,
  checkTarget,
  isSameEntry,
  refusalAt,
  type Target,
  withDirectoriesOpen,
  withParentsOpen,
} from './target.ts';

type ActionOf<Do extends Action['do']> = Extract<Action, { do: Do }>;

/** The result of one action, the directories to sync before it counts as done, and the content that it added to history. */
export interface Committed {
  readonly result: ActionResult;
  /** Directories of the folder. */
  readonly changedIn: readonly string[];
  readonly added?: AddedVersion | undefined;
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
  /** Of the present action. */
  #placing: Placing;

  constructor(places: Places, fault: FaultPoint | undefined) {
    this.#places = places;
    this.#system = places.system;
    this.#fault = fault;
    this.#placing = new Placing(places, fault);
    this.#descents = [new Descent(places), new Descent(places)];
  }

  close(): void {
    for (const descent of this.#descents) descent.close();
  }

  run(request: ActionRequest, staged: StageOutcome): Committed {
    if (staged !== undefined && !isStaged(staged)) return { result: staged, changedIn: [] };
    this.#touched = [];
    this.#placing = new Placing(this.#places, this.#fault);
    const attempted = this.#attempt(request, staged);
    const { released } = this.#placing;
    const failed = attempted.result === 'changed' || attempted.result === 'problem';
    const result = released !== undefined && failed ? { ...attempted, released } : attempted;
    return { result, changedIn: this.#touched, added: this.#placing.added };
  }

  #attempt(request: ActionRequest, staged: StagedEntry | undefined): ActionResult {
    const paths = pathsOf(request.action);
    const state = paths.find(isStatePath);
    if (state !== undefined) {
      return { result: 'problem', ...reserved(state) };
    }
    const targets: Target[] = [];
    try {
      this.#fault?.('check');
      for (const [index, path] of paths.entries()) {
        const checked = checkTarget(this.#places, this.#descents[index === 0 ? 0 : 1], path);
        if (checked !== undefined && 'result' in checked) return checked;
        if (checked !== undefined) targets.push(checked);
      }
      // An action at a path without a parent directory cannot be done. For `rmdir` it already is.
      if (targets.length < paths.length) return request.action.do === 'rmdir' ? { result: 'done' } : changed;
      // Before the parents are made writable: each attempt would be two changes in the folder.
      const obstacle = this.#obstacle(request.action);
      if (obstacle !== undefined) return { result: 'problem', ...obstacle };
      return withParentsOpen(this.#system, targets, (now) => this.#execute(request, staged, now));
    } catch (error) {
      const code = errorCodeOf(error);
      const path = paths.at(-1) ?? '';
      if (code === 'ENOENT' && this.#isNameRefused(error, targets, staged)) {
        return { result: 'problem', ...noSuchName(path) };
      }
      // An entry disappeared, or a new one appeared, since the check: a user changed the folder.
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'EISDIR') {
        return changed;
      }
      return { result: 'problem', ...problemOf(error, path) };
    }
  }

  /** True if only the new name can be missing, as all else is there: some FUSE programs refuse a name with ENOENT. */
  #isNameRefused(error: unknown, targets: readonly Target[], staged: StagedEntry | undefined): boolean {
    const { path, dest = path } = error as NodeJS.ErrnoException & { readonly dest?: string };
    if (!targets.some(({ entry, stats }) => entry === dest && stats === undefined)) return false;
    if (staged !== undefined && lstatIfThere(this.#system, staged.temporary) === undefined) return false;
    return targets.every((target) => {
      const now = checkTarget(this.#places, target.descent, target.path);
      if (now === undefined || 'result' in now) return false;
      return target.stats === undefined ? now.stats === undefined : isOneInode(target.stats, now.stats);
    });
  }

  /** The problem of a directory that must make room, but cannot be removed. Staging looks for that of a write. */
  #obstacle(action: Action): PathProblem | undefined {
    if (action.do === 'rmdir') return action.isReplaced === true ? obstacleIn(this.#places, action.path) : undefined;
    if (action.do !== 'rename' || action.expected === 'absent') return undefined;
    return isDirectoryMode(action.expected.mode) ? obstacleIn(this.#places, action.to) : undefined;
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
    const refused = refusalAt(this.#places, target, expected);
    if (refused !== undefined) return refused;
    const { entry } = target;
    if (expected === 'absent') this.#placing.placeAsNew(staged.temporary, entry);
    else if (isDirectoryMode(expected.mode)) {
      // No system call exchanges a directory for a file: the name is free for a moment. Only an empty directory can be removed.
      this.#fault?.('remove');
      this.#system.rmdir(entry);
      this.#placing.placeAsNew(staged.temporary, entry);
    } else {
      const content = action.do === 'write' ? action.content : undefined;
      if (!this.#placing.replace({ ...staged, content }, target, expected, keep)) return changed;
    }
    this.#touch(target);
    const stats = lstatIfThere(this.#system, entry);
    return stats !== undefined && hasContentOf(stats, staged.fingerprint)
      ? this.#done(stats)
      : changedSince(staged.fingerprint);
  }

  #rename(action: ActionOf<'rename'>, from: Target, to: Target, keep: ContentId | undefined): ActionResult {
    const { expected } = action;
    const refusedFrom = refusalAt(this.#places, from, action.expectedFrom);
    if (refusedFrom !== undefined) return refusedFrom;
    const [source, target] = [from.entry, to.entry];
    if (expected === 'absent' && isSameEntry(this.#system, from, to)) {
      const aside = takenPath(this.#places, action.expectedFrom);
      this.#system.rename(source, aside);
      this.#fault?.('rename');
      this.#placing.placeAsNew(aside, target);
    } else {
      const refusedTo = refusalAt(this.#places, to, expected);
      if (refusedTo !== undefined) return refusedTo;
      if (isOneInode(from.stats, to.stats)) {
        // Both are its names: rename(2) would do nothing.
        this.#fault?.('remove');
        this.#system.unlink(source);
      } else if (expected !== 'absent' && !isDirectoryMode(expected.mode)) {
        if (!this.#placing.replace(source, to, expected, keep)) return changed;
      } else {
        if (expected !== 'absent') this.#system.rmdir(target);
        this.#fault?.('rename');
        this.#system.rename(source, target);
      }
    }
    this.#touch(from);
    this.#touch(to);
    return this.#finishRenamed(target, action);
  }

  #renameDirectory(action: ActionOf<'rename-directory'>, from: Target, to: Target): ActionResult {
    const refused = refusalAt(this.#places, from, action.expectedFrom) ?? refusalAt(this.#places, to, 'absent');
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
    return this.#finishRenamed(to.entry, action);
  }

  #mkdir({ expected, mode }: ActionOf<'mkdir'>, target: Target, keep: ContentId | undefined): ActionResult {
    const refused = refusalAt(this.#places, target, expected);
    if (refused !== undefined) return refused;
    if (expected !== 'absent' && isDirectoryMode(expected.mode)) {
      return this.#finish(target.entry, expected, { mode }) ?? changed;
    }
    const made = this.#placing.makeDirectory(target, expected, { mode: permissionsOf(mode), keep });
    if (made === undefined) return changed;
    const { stats } = made;
    this.#touch(target);
    if (permissionsOf(stats.mode) === made.mode) return this.#done(stats);
    if (expected === 'absent') return changed;
    // A user changed its mode at this moment. With the row of the replaced entry, it would count as a directory that they put in its place.
    return changedSince({ ...fingerprintOf(stats), mode: withPermissions(stats.mode, made.mode) });
  }

  #attr(action: ActionOf<'attr'>, target: Target): ActionResult {
    const refused = refusalAt(this.#places, target, action.expected);
    if (refused !== undefined) return refused;
    this.#fault?.('attributes');
    return this.#finish(target.entry, action.expected, action) ?? changed;
  }

  #unlink({ expected }: ActionOf<'unlink'>, target: Target, keep: ContentId | undefined): ActionResult {
    const refused = refusalAt(this.#places, target, expected);
    if (refused !== undefined) return refused;
    const taken = isDirectoryMode(expected.mode) ? undefined : this.#placing.take(target, expected, keep);
    if (taken === undefined) return changed;
    taken.drop();
    this.#touch(target);
    return { result: 'done' };
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

  /** Sets the attributes of an entry that has its new name. If a user replaced it since, the next observation finds that. */
  #finishRenamed(target: string, action: ActionOf<'rename'> | ActionOf<'rename-directory'>): ActionResult {
    const attributes: Attributes = action;
    this.#fault?.('attributes');
    return (
      this.#finish(target, action.expectedFrom, attributes) ??
      changedSince(withAttributes(action.expectedFrom, attributes))
    );
  }

  /** Sets the attributes of an entry that stays. Undefined if it differs otherwise: a user changed it at this moment. */
  #finish(target: string, expected: Fingerprint, attributes: Attributes): ActionResult | undefined {
    const kept = setAttributes(this.#system, target, expected, attributes);
    const stats = lstatIfThere(this.#system, target);
    if (stats?.ino !== expected.ino) return undefined;
    const mode = kept.mode ?? attributes.mode ?? expected.mode;
    if (permissionsOf(stats.mode) !== permissionsOf(mode)) return undefined;
    if (stats.isDirectory()) return this.#done(stats);
    if (kept.mtimeUs === undefined) return isWrittenAs(stats, expected) ? this.#done(stats) : undefined;
    if (stats.size !== expected.size || mtimeUsOf(this.#system, target) !== kept.mtimeUs) return undefined;
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

/** The new entry was changed or replaced since: a user's edit, which the next observation finds. */
function changedSince(fingerprint: Fingerprint): ActionResult {
  return { result: 'done', fingerprint, racy: true };
}

/**
 * The fingerprint of an entry once it has the attributes. An entry that a user put in its place may have its former ones. Those would seem to
 * be all that the file system can keep of the new ones.
 */
function withAttributes(before: Fingerprint, { mode, mtimeUs }: Attributes): Fingerprint {
  return {
    ...before,
    ...(mode !== undefined && { mode: withPermissions(before.mode, mode) }),
    ...(mtimeUs !== undefined && { mtimeMs: mtimeUs / 1_000 }),
  };
}

function pathsOf(action: Action): readonly string[] {
  return action.do === 'rename' || action.do === 'rename-directory' ? [action.from, action.to] : [action.path];
}
