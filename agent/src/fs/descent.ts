import { isBelow, nameOf, parentOf } from '@lockstep/shared';
import { errorCodeOf } from '../os/system-error.ts';
import { isOneInode, lstatIfThere } from './entry-stat.ts';
import { folderUnusable } from './path-problem.ts';
import { isState, type Places } from './places.ts';
import type { EntryStats, OpenDirectory } from './system-calls.ts';

/** Codes that mean that no directory has a name: the name is free, or is that of a link or file. */
const noDirectoryCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** The open directory at which a descent is. */
interface Reached {
  readonly path: string;
  readonly opened: OpenDirectory;
}

/** An existing entry. */
interface Found {
  /** See `Descent.entry`. */
  readonly entry: string;
  readonly stats: EntryStats;
}

/**
 * Reaches paths of the folder, one open directory after the other [MT8]. The kernel walks a textual path again, and a program may have put
 * a link into it after it was checked; an entry reached from an open directory is in that directory. No directory on the way is a link or
 * the state directory. If the file system folds case, each is spelled as it is listed. The last directory stays open, and a missing one is
 * remembered, so that entries of one directory cost one descent. Call `renew` between actions that must each find the present entries, and
 * `close` at the end.
 */
export class Descent {
  readonly #places: Places;
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #passed = new Map<string, EntryStats>();
  #reached: Reached | undefined;
  /** The directory that was missing last. The entries of a removed directory are asked for one after the other, and cost one descent. */
  #missing: string | undefined;

  constructor(places: Places) {
    this.#places = places;
  }

  /**
   * The path of an entry for system calls. Undefined if no directory has it. It is valid until the descent goes to another directory: then
   * its descriptor may be that of another file.
   */
  entry(path: string): string | undefined {
    const parent = this.directory(parentOf(path))?.path;
    return parent === undefined || path === '' ? parent : `${parent}/${nameOf(path)}`;
  }

  /** The entry at a path. Undefined if it cannot be reached. */
  find(path: string): Found | undefined {
    const entry = this.entry(path);
    const stats = entry === undefined ? undefined : lstatIfThere(this.#places.system, entry);
    return entry === undefined || stats === undefined ? undefined : { entry, stats };
  }

  /** As `lstatIfThere`. Also undefined if the path cannot be reached. */
  lstat(path: string): EntryStats | undefined {
    return this.find(path)?.stats;
  }

  /** The stats of a directory through which the descent went, as of then. For any other path as `lstat`. */
  passed(path: string): EntryStats | undefined {
    return this.#passed.get(path) ?? this.lstat(path);
  }

  /** A directory of the folder. Undefined if it cannot be reached. It stays open as long as `entry` is valid. */
  directory(path: string): OpenDirectory | undefined {
    if (path === '') return this.#places.top;
    const reached = this.#reached;
    if (reached?.path === path) return reached.opened;
    if (this.#missing !== undefined && (path === this.#missing || isBelow(path, this.#missing))) return undefined;
    const isOnTheWay = reached !== undefined && isBelow(path, reached.path);
    if (!isOnTheWay) this.close();
    for (const next of directoriesTo(path, isOnTheWay ? reached.path : '')) {
      if (this.#enter(next)) continue;
      this.#missing = next;
      return undefined;
    }
    return this.#reached?.opened;
  }

  /** False if the entry at a path is listed in another spelling: other members take that for another entry. */
  isSpelledSo(path: string): boolean {
    if (!this.#places.foldsCase || path === '') return true;
    const parent = parentOf(path);
    let names = this.#names.get(parent);
    if (names === undefined) {
      names = new Set(this.#namesIn(parent));
      this.#names.set(parent, names);
    }
    return names.has(nameOf(path));
  }

  /**
   * Forgets everything that may have changed since. The open directory stays open if it and all directories above it are still at their
   * paths, which costs one call for each of them; a descent costs three.
   */
  renew(): void {
    this.#names.clear();
    this.#missing = undefined;
    const passed = new Map(this.#passed);
    this.#passed.clear();
    const reached = this.#reached;
    if (reached === undefined) return;
    for (const path of directoriesTo(reached.path)) {
      const stats = this.#statsIfSame(path, passed.get(path));
      if (stats === undefined) {
        this.close();
        return;
      }
      this.#passed.set(path, stats);
      if (path === reached.path) this.#reached = { path, opened: { ...reached.opened, stats } };
    }
  }

  /** The stats of the directory at a path now. Undefined if it is not the one that was there `before`. */
  #statsIfSame(path: string, before: EntryStats | undefined): EntryStats | undefined {
    const { top, system } = this.#places;
    try {
      const now = top && system.lstat(`${top.path}/${path}`);
      return now?.isDirectory() && isOneInode(now, before) ? now : undefined;
    } catch (error) {
      // A new descent finds the reason.
      if (errorCodeOf(error) === undefined) throw error;
      return undefined;
    }
  }

  /** True while a new descent to the open directory reaches the same one, and none reaches the one that was missing last. */
  isInPlace(): boolean {
    const missing = this.#missing;
    this.#missing = undefined;
    if (missing !== undefined && descending(this.#places, (descent) => descent.directory(missing)) !== undefined)
      return false;
    if (this.#reached === undefined) return true;
    const { path, opened } = this.#reached;
    const now = descending(this.#places, (descent) => descent.directory(path)?.stats);
    return isOneInode(now, opened.stats);
  }

  close(): void {
    const reached = this.#reached;
    this.#reached = undefined;
    reached?.opened.close();
  }

  /** Goes down by one directory. */
  #enter(path: string): boolean {
    const opened = this.#open(path);
    this.close();
    if (opened === undefined) return false;
    this.#reached = { path, opened };
    this.#passed.set(path, opened.stats);
    if (!isState(this.#places, opened.stats)) return true;
    this.close();
    return false;
  }

  #open(path: string): OpenDirectory | undefined {
    try {
      const entry = this.isSpelledSo(path) ? this.entry(path) : undefined;
      return entry === undefined ? undefined : this.#places.system.openDirectory(entry);
    } catch (error) {
      if (!noDirectoryCodes.has(errorCodeOf(error))) throw error;
      return undefined;
    }
  }

  #namesIn(directory: string): readonly string[] {
    try {
      const path = this.directory(directory)?.path;
      return path === undefined ? [] : this.#places.system.readdir(path);
    } catch (error) {
      if (!noDirectoryCodes.has(errorCodeOf(error))) throw error;
      return [];
    }
  }
}

/** The directories on the way to `path`, from below `from` on, and `path` itself. */
function* directoriesTo(path: string, from = ''): Iterable<string> {
  for (let end = from === '' ? -1 : from.length; end < path.length; ) {
    const slash = path.indexOf('/', end + 1);
    end = slash < 0 ? path.length : slash;
    yield path.slice(0, end);
  }
}

/** Runs `body` with a descent, and closes it. */
export function descending<T>(places: Places, body: (descent: Descent) => T): T {
  const descent = new Descent(places);
  try {
    return body(descent);
  } finally {
    descent.close();
  }
}

/**
 * Runs a job with the folder open, so that all its calls stay in the folder that was opened. The folder itself may be reached through a
 * link. It is closed after each job: a disk that is in use cannot be unmounted.
 */
export function withFolderOpen<T>(places: Places, job: (places: Places) => T): T {
  const opened = openFolderOf(places);
  try {
    return job({ ...places, ...opened });
  } finally {
    opened.top?.close();
  }
}

function openFolderOf({ system, root, rootIdentity }: Places): Pick<Places, 'top' | 'topProblem'> {
  try {
    const top = system.openDirectory(`${root}/.`);
    if (isOneInode(top.stats, rootIdentity)) return { top };
    top.close();
  } catch (error) {
    return { top: undefined, topProblem: folderUnusable(error) };
  }
  return { top: undefined };
}
