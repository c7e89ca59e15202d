import { type ContentId, isStatePath, nameOf, parentOf } from '@lockstep/shared';
import { type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import type { Action, ActionRequest, ActionResult, Expected } from '../../sync/ports/folder.ts';
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
import { absolutePath, isReachable, isSpelledSo, isState, type Places } from '../places.ts';
import { namesBelow } from '../read/list-directory.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';
import { type Attributes, setAttributes } from './attributes.ts';
import { permissionsOf } from './file-times.ts';
import { shardPath } from './history.ts';
import { obstacleAt, obstacleIn } from './obstacle.ts';
import { withDirectoriesOpen } from './read-only-directories.ts';
import { keepBeside, linkIfPermitted, ReplacedVersion, takeAway } from './replaced-version.ts';
import { isStaged, type StagedEntry, type StageOutcome, temporaryPath } from './staging.ts';

type ActionOf<Do extends Action['do']> = Extract<Action, { do: Do }>;

const changed: ActionResult = { result: 'changed' };

/** What one action came to, which directories must be synced before it may be called done, and what it put into history. */
export interface Committed {
  readonly result: ActionResult;
  readonly touched: readonly string[];
  readonly kept?: ContentId | undefined;
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
    if (staged !== undefined && !isStaged(staged)) return { result: staged, touched: [] };
    this.#touched = [];
    this.#kept = undefined;
    const result = this.#attempt(request, staged);
    return { result, touched: this.#touched, kept: this.#kept };
  }

  #attempt(request: ActionRequest, staged: StagedEntry | undefined): ActionResult {
    const paths = pathsOf(request.action);
    const state = paths.find(isStatePath);
    if (state !== undefined) {
      return { result: 'problem', ...reserved(state) };
    }
    try {
      const mount = this.#changedMount(paths);
      if (mount !== undefined) return { result: 'problem', ...mountChanged(mount) };
      return withDirectoriesOpen(this.#system, this.#writtenTo(request.action), () => this.#carryOut(request, staged));
    } catch (error) {
      const code = errorCodeOf(error);
      // What stood a moment ago is gone, or something stands where nothing did: somebody else is at work here.
      if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EEXIST' || code === 'ENOTEMPTY' || code === 'EISDIR') {
        return changed;
      }
      return { result: 'problem', ...problemOf(error, paths.at(-1) ?? '') };
    }
  }

  /** The mount at or above one of the paths that is not what was seen there: what comes below it would not be on its disk. */
  #changedMount(paths: readonly string[]): string | undefined {
    const mounts = new MountCheck(this.#places);
    for (const path of paths) {
      const mount = mounts.changed(path);
      if (mount !== undefined) return mount;
    }
    return undefined;
  }

  /** Directories that change, but for the folder itself: who takes the right to write from that wants nothing to come here. */
  #writtenTo(action: Action): readonly string[] {
    const parents = pathsOf(action).map(parentOf);
    return parents.filter((path) => path !== '').map((path) => absolutePath(this.#places.root, path));
  }

  #carryOut({ action, keep }: ActionRequest, staged: StagedEntry | undefined): ActionResult {
    this.#fault?.('check');
    switch (action.do) {
      case 'write':
      case 'symlink':
        return staged === undefined ? changed : this.#place(action, staged, keep);
      case 'rename':
        return this.#rename(action, keep);
      case 'rename-directory':
        return this.#renameDirectory(action);
      case 'mkdir':
        return this.#mkdir(action, keep);
      case 'attr':
        return this.#attr(action);
      case 'unlink':
        return this.#unlink(action, keep);
      case 'rmdir':
        return this.#rmdir(action);
    }
  }

  #place(
    action: ActionOf<'write'> | ActionOf<'symlink'>,
    staged: StagedEntry,
    keep: ContentId | undefined,
  ): ActionResult {
    const { path, expected } = action;
    const target = absolutePath(this.#places.root, path);
    const refused = this.#refusal(path, target, expected);
    if (refused !== undefined) return refused;
    if (expected === 'absent') this.#placeAsNew(staged.temporary, target);
    else if (isDirectoryMode(expected.mode)) {
      // No call exchanges a directory for a file: for a moment the name is gone. Only an empty one can go.
      this.#fault?.('remove');
      const obstructed = this.#removeDirectory(path, target);
      if (obstructed !== undefined) return obstructed;
      this.#placeAsNew(staged.temporary, target);
    } else if (!this.#replace(staged.temporary, target, expected, keep)) {
      this.#saveEdit(staged, target);
      return changed;
    }
    this.#touch(path);
    const stats = lstatIfThere(this.#system, target);
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
  #removeDirectory(path: string, target: string): ActionResult | undefined {
    try {
      this.#system.rmdir(target);
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

  #rename(action: ActionOf<'rename'>, keep: ContentId | undefined): ActionResult {
    const { from, to, expected } = action;
    const source = absolutePath(this.#places.root, from);
    const target = absolutePath(this.#places.root, to);
    const refusedFrom = this.#refusal(from, source, action.expectedFrom);
    if (refusedFrom !== undefined) return refusedFrom;
    if (expected === 'absent' && this.#isSameEntry(source, target)) {
      const aside = temporaryPath(this.#places);
      this.#system.rename(source, aside);
      this.#fault?.('rename');
      this.#placeAsNew(aside, target);
    } else {
      const refusedTo = this.#refusal(to, target, expected);
      if (refusedTo !== undefined) return refusedTo;
      if (expected !== 'absent' && expected.ino === action.expectedFrom.ino) {
        // Two names of one inode: rename(2) would do nothing at all.
        this.#fault?.('remove');
        this.#system.unlink(source);
      } else if (expected !== 'absent' && !isDirectoryMode(expected.mode)) {
        if (!this.#replace(source, target, expected, keep)) return changed;
      } else {
        const obstructed = expected === 'absent' ? undefined : this.#removeDirectory(to, target);
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
  #isSameEntry(source: string, target: string): boolean {
    const stats = lstatIfThere(this.#system, target);
    if (stats === undefined || stats.ino !== lstatIfThere(this.#system, source)?.ino) return false;
    return !this.#system.readdir(parentOf(target)).includes(nameOf(target));
  }

  #renameDirectory(action: ActionOf<'rename-directory'>): ActionResult {
    const source = absolutePath(this.#places.root, action.from);
    const target = absolutePath(this.#places.root, action.to);
    const refused =
      this.#refusal(action.from, source, action.expectedFrom) ?? this.#refusal(action.to, target, 'absent');
    if (refused !== undefined) return refused;
    const found = namesBelow(this.#system, source);
    if (found === undefined || found.size !== action.names.length) return changed;
    if (!action.names.every((name) => found.has(name))) return changed;
    this.#fault?.('rename');
    // One that gets another parent is written to itself, its `..` changes. Not opened before the look: it would be another one.
    withDirectoriesOpen(this.#system, [source], () => this.#system.rename(source, target));
    this.#touch(action.from);
    this.#touch(action.to);
    this.#fault?.('attributes');
    return this.#finish(target, action.expectedFrom, { mode: action.mode }) ?? changedSince(action.expectedFrom);
  }

  #mkdir(action: ActionOf<'mkdir'>, keep: ContentId | undefined): ActionResult {
    const { path, expected, mode } = action;
    const target = absolutePath(this.#places.root, path);
    const refused = this.#refusal(path, target, expected);
    if (refused !== undefined) return refused;
    if (expected !== 'absent' && isDirectoryMode(expected.mode)) {
      return this.#finish(target, expected, { mode }) ?? changed;
    }
    if (expected !== 'absent' && !this.#takeAway(target, expected, keep)) return changed;
    this.#fault?.('rename');
    this.#system.mkdir(target, permissionsOf(mode));
    // The process's umask has taken bits off.
    this.#system.chmod(target, permissionsOf(mode));
    this.#touch(path);
    const stats = lstatIfThere(this.#system, target);
    return stats?.isDirectory() && permissionsOf(stats.mode) === permissionsOf(mode) ? this.#done(stats) : changed;
  }

  #attr(action: ActionOf<'attr'>): ActionResult {
    const target = absolutePath(this.#places.root, action.path);
    const refused = this.#refusal(action.path, target, action.expected);
    if (refused !== undefined) return refused;
    this.#fault?.('attributes');
    return this.#finish(target, action.expected, action) ?? changed;
  }

  #unlink(action: ActionOf<'unlink'>, keep: ContentId | undefined): ActionResult {
    const target = absolutePath(this.#places.root, action.path);
    const refused = this.#refusal(action.path, target, action.expected);
    if (refused !== undefined) return refused;
    if (isDirectoryMode(action.expected.mode) || !this.#takeAway(target, action.expected, keep)) return changed;
    this.#touch(action.path);
    return { result: 'done' };
  }

  #takeAway(target: string, expected: Fingerprint, keep: ContentId | undefined): boolean {
    this.#fault?.('remove');
    const taken = takeAway(this.#places, target, expected, keep);
    if (taken === 'kept') this.#keep(keep);
    return taken !== 'changed';
  }

  #rmdir(action: ActionOf<'rmdir'>): ActionResult {
    const target = absolutePath(this.#places.root, action.path);
    const stats = isReachable(this.#places, action.path) ? lstatIfThere(this.#system, target) : undefined;
    // Gone already: that is what was asked for.
    if (stats === undefined) return { result: 'done' };
    if (!stats.isDirectory() || isState(this.#places, stats)) return changed;
    this.#fault?.('remove');
    this.#system.rmdir(target);
    this.#touch(action.path);
    return { result: 'done' };
  }

  /** Why the action may not go on, if so: no directory to hold the path, a link on the way there, something else than expected. */
  #refusal(path: string, target: string, expected: Expected): ActionResult | undefined {
    if (!isReachable(this.#places, path)) return changed;
    const stats = lstatIfThere(this.#system, target);
    if (stats === undefined) return expected === 'absent' ? undefined : changed;
    if (isState(this.#places, stats)) return { result: 'problem', ...reserved(path) };
    if (!isSpelledSo(this.#places, path))
      return expected === 'absent' ? { result: 'problem', ...sameName(path) } : changed;
    if (expected !== 'absent' && hasFingerprint(stats, expected)) return undefined;
    const obstacle = obstacleAt(this.#places, path);
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
    this.#touched.push(shardPath(this.#places, content));
  }

  #touch(path: string): void {
    this.#touched.push(absolutePath(this.#places.root, parentOf(path)));
  }
}

/** What was put there has been changed or replaced since: that is an edit of it, and the next look finds it. */
function changedSince(fingerprint: Fingerprint): ActionResult {
  return { result: 'done', fingerprint, racy: true };
}

function pathsOf(action: Action): readonly string[] {
  return action.do === 'rename' || action.do === 'rename-directory' ? [action.from, action.to] : [action.path];
}
