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
import { obstacleAt, obstacleIn } from './obstacle.ts';
import { withDirectoriesOpen } from './read-only-directories.ts';
import { keepBeside, linkIfPermitted, ReplacedVersion, TakenVersion } from './replaced-version.ts';
import { isStaged, type StagedEntry, type StageOutcome, temporaryPath } from './staging.ts';

type ActionOf<Do extends Action['do']> = Extract<Action, { do: Do }>;

const changed: ActionResult = { result: 'changed' };

/** What one action came to, which directories must be synced before it may be called done, and what it put into history. */
export interface Committed {
  readonly result: ActionResult;
  /** Directories of the folder. */
  readonly changedIn: readonly string[];
  readonly kept?: ContentId | undefined;
}

/** A path that an action concerns. */
interface Target {
  readonly path: string;
  /** See `Descent.entry`: the descent goes nowhere else before the action is over. */
  readonly entry: string;
  /** Of what was there at the last look. */
  readonly stats: EntryStats | undefined;
  readonly descent: Descent;
}

/** Gives names to what is staged, one action after the other, each after a last look at what stands there. */
export class Commit {
  readonly #places: Places;
  readonly #system: SystemCalls;
  readonly #fault: FaultPoint | undefined;
  #touched: string[] = [];
  #kept: ContentId | undefined;

  constructor(places: Places, fault: FaultPoint | undefined) {
    this.#places = places;
    this.#system = places.system;
    this.#fault = fault;
  }

  run(request: ActionRequest, staged: StageOutcome): Committed {
    if (staged !== undefined && !isStaged(staged)) return { result: staged, changedIn: [] };
    this.#touched = [];
    this.#kept = undefined;
    const result = this.#attempt(request, staged);
    return { result, changedIn: this.#touched, kept: this.#kept };
  }

  #attempt(request: ActionRequest, staged: StagedEntry | undefined): ActionResult {
    const paths = pathsOf(request.action);
    const state = paths.find(isStatePath);
    if (state !== undefined) {
      return { result: 'problem', ...reserved(state) };
    }
    const descents = paths.map(() => new Descent(this.#places));
    try {
      this.#fault?.('check');
      const targets: Target[] = [];
      for (const [index, descent] of descents.entries()) {
        const path = paths[index] ?? '';
        const entry = descent.entry(path);
        const stats = entry === undefined ? undefined : lstatIfThere(this.#system, entry);
        const mount = new MountCheck(this.#places, descent).changed(path, stats);
        // At or above the path is another disk than before: what comes below it would not be on its own.
        if (mount !== undefined) return { result: 'problem', ...mountChanged(mount) };
        if (entry !== undefined) targets.push({ path, entry, stats, descent });
      }
      // Where no directory holds it, nothing can be done there; what is to be gone is.
      if (targets.length < paths.length) return request.action.do === 'rmdir' ? { result: 'done' } : changed;
      return withDirectoriesOpen(this.#system, targets.flatMap(parentOpen), () =>
        this.#carryOut(request, staged, targets),
      );
    } catch (error) {
      const code = errorCodeOf(error);
      // What stood a moment ago is gone, or something stands where nothing did: somebody else is at work here.
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'EISDIR') {
        return changed;
      }
      return { result: 'problem', ...problemOf(error, paths.at(-1) ?? '') };
    } finally {
      for (const descent of descents) descent.close();
    }
  }

  #carryOut(
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
    { expected }: ActionOf<'write'> | ActionOf<'symlink'>,
    target: Target,
    staged: StagedEntry,
    keep: ContentId | undefined,
  ): ActionResult {
    const refused = this.#refusal(target, expected);
    if (refused !== undefined) return refused;
    const { entry } = target;
    if (expected === 'absent') this.#placeAsNew(staged.temporary, entry);
    else if (isDirectoryMode(expected.mode)) {
      // No call exchanges a directory for a file: for a moment the name is gone. Only an empty one can go.
      this.#fault?.('remove');
      const obstructed = this.#removeDirectory(target);
      if (obstructed !== undefined) return obstructed;
      this.#placeAsNew(staged.temporary, entry);
    } else if (!this.#replace(staged.temporary, entry, expected, keep)) {
      this.#saveEdit(staged, entry);
      return changed;
    }
    this.#touch(target);
    const stats = lstatIfThere(this.#system, entry);
    return stats !== undefined && hasContentOf(stats, staged.fingerprint)
      ? this.#done(stats)
      : changedSince(staged.fingerprint);
  }

  /** What was taken back into staging may have been edited, or be another file, while it had its name. */
  #saveEdit({ temporary, fingerprint }: StagedEntry, target: string): void {
    const stats = lstatIfThere(this.#system, temporary);
    if (stats !== undefined && !hasContentOf(stats, fingerprint)) keepBeside(this.#places, temporary, target);
  }

  /** Makes way for what must stand where a directory does. A problem when only what is no business of ours is left in it. */
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

  /** A new name is given by link(2), which refuses to replace what came to stand there since the look; rename(2) would not. */
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

  /** One rename(2) over the old version, which goes to history. False when that was not what it was expected to be. */
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
    if (replaced.addedToHistory) this.#keep(keep);
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
      if (expected !== 'absent' && expected.ino === action.expectedFrom.ino) {
        // Two names of one inode: rename(2) would do nothing at all.
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

  /** True when `target` is only another spelling of `source`, on a file system that does not tell cases apart. */
  #isSameEntry(source: Target, target: Target): boolean {
    if (target.stats === undefined || target.stats.ino !== source.stats?.ino) return false;
    return !this.#system.readdir(parentOf(target.entry)).includes(nameOf(target.path));
  }

  #renameDirectory(action: ActionOf<'rename-directory'>, from: Target, to: Target): ActionResult {
    const refused = this.#refusal(from, action.expectedFrom) ?? this.#refusal(to, 'absent');
    if (refused !== undefined) return refused;
    const found = namesBelow(this.#places, action.from);
    if (found === undefined || found.size !== action.names.length) return changed;
    if (!action.names.every((name) => found.has(name))) return changed;
    this.#fault?.('rename');
    // One that gets another parent is written to itself, its `..` changes. Not opened before the look: it would be another one.
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
    // The process's umask has taken bits off.
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
    if (taken?.addedToHistory) this.#keep(keep);
    return taken;
  }

  #rmdir(target: Target): ActionResult {
    const { stats } = target;
    // Gone already: that is what was asked for.
    if (stats === undefined) return { result: 'done' };
    if (!stats.isDirectory() || isState(this.#places, stats)) return changed;
    this.#fault?.('remove');
    this.#system.rmdir(target.entry);
    this.#touch(target);
    return { result: 'done' };
  }

  /** Why the action may not go on, if so: something else than expected is there. */
  #refusal({ path, stats, descent }: Target, expected: Expected): ActionResult | undefined {
    if (stats === undefined) return expected === 'absent' ? undefined : changed;
    if (isState(this.#places, stats)) return { result: 'problem', ...reserved(path) };
    if (!descent.isSpelledSo(path)) return expected === 'absent' ? { result: 'problem', ...sameName(path) } : changed;
    if (expected !== 'absent' && hasFingerprint(stats, expected)) return undefined;
    const obstacle = obstacleAt(this.#places, descent, path);
    return obstacle === undefined ? changed : { result: 'problem', ...obstacle };
  }

  /** Gives an entry that stays its attributes. Undefined where anything else about it is not as expected: a user did that in this moment. */
  #finish(target: string, expected: Fingerprint, attributes: Attributes): ActionResult | undefined {
    const isTimed = setAttributes(this.#system, target, expected, attributes);
    const stats = lstatIfThere(this.#system, target);
    if (stats?.ino !== expected.ino) return undefined;
    if (permissionsOf(stats.mode) !== permissionsOf(attributes.mode ?? expected.mode)) return undefined;
    if (stats.isDirectory()) return this.#done(stats);
    if (!isTimed) return isWrittenAs(stats, expected) ? this.#done(stats) : undefined;
    if (stats.size !== expected.size || mtimeUsOf(this.#system, target) !== attributes.mtimeUs) return undefined;
    // The time of a write just before is gone: only reading the file shows that there was none.
    return this.#done(stats, true);
  }

  #done(stats: EntryStats, racy = isRacyAfterPlacing(stats, this.#system.wallMs())): ActionResult {
    return { result: 'done', fingerprint: fingerprintOf(stats), racy };
  }

  #keep(content: ContentId | undefined): void {
    if (content === undefined) return;
    this.#kept = content;
  }

  #touch({ path }: Target): void {
    this.#touched.push(parentOf(path));
  }
}

/** What was put there has been changed or replaced since: that is an edit of it, and the next look finds it. */
function changedSince(fingerprint: Fingerprint): ActionResult {
  return { result: 'done', fingerprint, racy: true };
}

function pathsOf(action: Action): readonly string[] {
  return action.do === 'rename' || action.do === 'rename-directory' ? [action.from, action.to] : [action.path];
}

/** The directory that changes, but for the folder itself: who takes the right to write from that wants nothing to come here. */
function parentOpen({ path, descent }: Target): readonly OpenDirectory[] {
  const parent = parentOf(path);
  const opened = parent === '' ? undefined : descent.directory(parent);
  return opened === undefined ? [] : [opened];
}
