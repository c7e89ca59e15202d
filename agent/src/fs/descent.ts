import { isBelow, nameOf, parentOf } from '@lockstep/shared';
import { lstatIfThere } from './entry-stat.ts';
import { errorCodeOf } from './path-problem.ts';
import { isState, type Places } from './places.ts';
import type { EntryStats, OpenDirectory } from './system-calls.ts';

/** What says that no directory has a name: nothing is there, or a link or a file. */
const noDirectoryCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP']);

/** The directory that a descent has come to. */
interface Reached {
  readonly path: string;
  readonly opened: OpenDirectory;
}

/** An entry that is there. */
interface Found {
  /** See `Descent.entry`. */
  readonly entry: string;
  readonly stats: EntryStats;
}

/**
 * The way down to paths of the folder, one open directory after the other [MT8]. A path that was checked and is then given to the kernel as
 * text is walked once more, and a program may have put a link into it meanwhile; what is reached from an open directory is in that directory.
 * None of the directories above is a link or the state directory, and on a file system that folds case each is spelled as it is listed.
 * The last directory stays open, so entries of one directory cost one descent. `close` it.
 */
export class Descent {
  readonly #places: Places;
  readonly #names = new Map<string, ReadonlySet<string>>();
  readonly #passed = new Map<string, EntryStats>();
  #reached: Reached | undefined;

  constructor(places: Places) {
    this.#places = places;
  }

  /**
   * The path for system calls by which an entry is reached, or undefined where no directory holds it. It is good until the descent goes to
   * another directory: then its descriptor may be that of something else.
   */
  entry(path: string): string | undefined {
    const parent = this.directory(parentOf(path))?.path;
    return parent === undefined || path === '' ? parent : `${parent}/${nameOf(path)}`;
  }

  /** The entry at a path and what it is, or undefined where none can be reached. */
  find(path: string): Found | undefined {
    const entry = this.entry(path);
    const stats = entry === undefined ? undefined : lstatIfThere(this.#places.system, entry);
    return entry === undefined || stats === undefined ? undefined : { entry, stats };
  }

  /** As `lstatIfThere`. Undefined also where the path cannot be reached. */
  lstat(path: string): EntryStats | undefined {
    return this.find(path)?.stats;
  }

  /** What is at a path through which the descent went, as it was then, or at any other, as `lstat`. */
  passed(path: string): EntryStats | undefined {
    return this.#passed.get(path) ?? this.lstat(path);
  }

  /** A directory of the folder. Undefined where none can be reached. It stays open as long as `entry` is good. */
  directory(path: string): OpenDirectory | undefined {
    if (path === '') return this.#places.top;
    const reached = this.#reached;
    if (reached?.path === path) return reached.opened;
    const isOnTheWay = reached !== undefined && isBelow(path, reached.path);
    if (!isOnTheWay) this.close();
    for (let end = isOnTheWay ? reached.path.length : -1; end < path.length; ) {
      const slash = path.indexOf('/', end + 1);
      end = slash < 0 ? path.length : slash;
      if (!this.#enter(path.slice(0, end))) return undefined;
    }
    return this.#reached?.opened;
  }

  /** False where the entry at a path is not listed in exactly this spelling: it is another entry for the other members. */
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

  /** True while another descent to the directory that is open comes to the same one. */
  isInPlace(): boolean {
    if (this.#reached === undefined) return true;
    const { path, opened } = this.#reached;
    const now = descending(this.#places, (descent) => descent.directory(path)?.stats);
    return now?.ino === opened.stats.ino && now.dev === opened.stats.dev;
  }

  close(): void {
    const reached = this.#reached;
    this.#reached = undefined;
    reached?.opened.close();
  }

  /** Goes from the directory above to this one. */
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

/** Runs `body` with a descent, which ends with it. */
export function descending<T>(places: Places, body: (descent: Descent) => T): T {
  const descent = new Descent(places);
  try {
    return body(descent);
  } finally {
    descent.close();
  }
}

/**
 * Runs a job with the folder open, so that all that it does is done in the folder that was opened. It may be reached through a link. It is
 * not open for longer: a disk that is in use cannot be unmounted.
 */
export function withFolderOpen<T>(places: Places, job: (places: Places) => T): T {
  const folder = openFolderOf(places);
  try {
    return job({ ...places, top: folder });
  } finally {
    folder?.close();
  }
}

function openFolderOf({ system, root, rootIdentity }: Places): OpenDirectory | undefined {
  try {
    const opened = system.openDirectory(`${root}/.`);
    if (opened.stats.ino === rootIdentity.ino && opened.stats.dev === rootIdentity.dev) return opened;
    opened.close();
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
  }
  return undefined;
}
