import { isStateName, joinPath, nameOf, parentOf, stateDirectoryName } from '@lockstep/shared';
import { errorCodeOf } from '../../os/system-error.ts';
import type { UnwatchedDirectory, WatchHint } from '../../sync/ports/folder.ts';
import type { Log } from '../../sync/ports/log.ts';
import { isOneInode, lstatIfThere } from '../entry-stat.ts';
import { absolutePath, type Places } from '../places.ts';
import type { SystemCalls } from '../system-calls.ts';
import type { DirectoryWatches } from './directory-watches.ts';
import { HintGatherer } from './hint-gatherer.ts';
import { Notifier } from './notifier.ts';
import { WatchCookies } from './watch-cookies.ts';

/**
 * The identity of a watched directory. Inode numbers are reused at once, so it includes the birth time; and two disks, one of them a copy of
 * the other, have equal ones, so it includes the device.
 */
interface Identity {
  readonly dev: number;
  readonly ino: number;
  readonly birthtimeMs: number;
}

interface Watch extends Identity {
  readonly close: () => void;
  /**
   * Names by which the kernel's watch may call the directory itself: its own, and the one at the time the watch was first set. A second
   * watch of an inode shares the kernel's watch with the first, including its label.
   */
  readonly selfNames: ReadonlySet<string>;
}

const replacementCharacter = '\ufffd';

/** Watches the directories of a folder, one watch each, and turns events into hints. */
export class Watcher implements DirectoryWatches {
  readonly #root: string;
  readonly #system: SystemCalls;
  readonly #log: Log;
  readonly #hints: HintGatherer;
  readonly #notifier: Notifier;
  readonly #cookies: WatchCookies;
  readonly #watches = new Map<string, Watch>();
  /** By device and inode number. */
  readonly #pathOfInode = new Map<string, string>();
  /** The watched and unwatched directories directly below a directory: forgetting a tree must not iterate over all others. */
  readonly #children = new Map<string, Set<string>>();
  readonly #unwatched = new Map<string, UnwatchedDirectory>();
  /** Directories that the agent is about to rename. */
  readonly #moving = new Set<string>();
  #limitReported = false;

  constructor(options: {
    places: Pick<Places, 'root' | 'cookies' | 'system'>;
    log: Log;
    hint: (hints: readonly WatchHint[]) => void;
  }) {
    this.#root = options.places.root;
    this.#system = options.places.system;
    this.#log = options.log;
    this.#hints = new HintGatherer(options.hint);
    this.#notifier = new Notifier(
      (event, name, watchedPath) => this.#event(event, name, watchedPath),
      (error) => {
        this.#log.warn({ error: String(error) }, 'a watch failed: the whole folder is scanned');
        this.#hints.loseTrack();
      },
    );
    this.#cookies = new WatchCookies(options.places.cookies, this.#notifier);
  }

  unwatched(): readonly UnwatchedDirectory[] {
    return [...this.#unwatched.values()];
  }

  async flush(): Promise<boolean> {
    const isComplete = await this.#cookies.pass();
    await this.#hints.delivered();
    return isComplete;
  }

  watch(path: string): number | undefined {
    const identity = this.#identify(path);
    if (identity === undefined) {
      this.forget(path);
      return undefined;
    }
    const known = this.#watches.get(path);
    if (known !== undefined && isSame(known, identity)) return identity.ino;
    if (known !== undefined) this.#drop(path);
    this.#set(path, identity);
    return identity.ino;
  }

  moving(from: string): void {
    this.#moving.add(from);
  }

  moved(from: string, to: string | undefined): void {
    this.#moving.delete(from);
    if (to === undefined) {
      this.#recheck(from);
      return;
    }
    const below = [from, ...this.#below(from)].filter((path) => this.#watches.has(path) || this.#unwatched.has(path));
    for (const path of below) {
      this.watch(to + path.slice(from.length));
      this.#drop(path);
    }
  }

  forget(path: string): void {
    for (const gone of [path, ...this.#below(path)]) this.#drop(gone);
  }

  async close(): Promise<void> {
    this.#hints.close();
    this.#cookies.close();
    await this.#notifier.close();
  }

  #identify(path: string): Identity | undefined {
    try {
      const stats = lstatIfThere(this.#system, absolutePath(this.#root, path));
      return stats?.isDirectory() ? { dev: stats.dev, ino: stats.ino, birthtimeMs: stats.birthtimeMs } : undefined;
    } catch {
      // It cannot be read, so it cannot be watched; the listing reports why.
      return undefined;
    }
  }

  #set(path: string, identity: Identity): void {
    const outcome = this.#notifier.watchDirectory(absolutePath(this.#root, path));
    if (outcome === 'absent') return;
    if ('failure' in outcome) {
      this.#unwatched.set(path, { path, closed: errorCodeOf(outcome.failure) === 'EACCES' });
      this.#addToParent(path);
      this.#reportFailure(path, outcome.failure);
      return;
    }
    this.#unwatched.delete(path);
    const selfNames = new Set([path === '' ? nameOf(this.#root) : nameOf(path)]);
    const before = this.#pathOfInode.get(inodeOf(identity));
    const same = before === undefined ? undefined : this.#watches.get(before);
    if (before !== undefined && before !== path && same !== undefined && isSame(same, identity)) {
      // The same directory under its earlier path. The kernel has one watch for both, and the new one was set before the old one is closed:
      // no event in between is lost.
      for (const name of same.selfNames) selfNames.add(name);
      this.#drop(before);
    }
    this.#watches.set(path, { ...identity, close: outcome.close, selfNames });
    this.#pathOfInode.set(inodeOf(identity), path);
    this.#addToParent(path);
  }

  #addToParent(path: string): void {
    if (path === '') return;
    const parent = parentOf(path);
    const siblings = this.#children.get(parent);
    if (siblings === undefined) this.#children.set(parent, new Set([path]));
    else siblings.add(path);
  }

  #drop(path: string): void {
    const watch = this.#watches.get(path);
    if (!this.#unwatched.delete(path) && watch === undefined) return;
    if (watch !== undefined) {
      watch.close();
      this.#watches.delete(path);
      const inode = inodeOf(watch);
      if (this.#pathOfInode.get(inode) === path) this.#pathOfInode.delete(inode);
    }
    const siblings = this.#children.get(parentOf(path));
    siblings?.delete(path);
    if (siblings?.size === 0) this.#children.delete(parentOf(path));
  }

  /** Watched and unwatched directories below `path`, children first. */
  #below(path: string): string[] {
    const found = [path];
    for (const each of found) for (const child of this.#children.get(each) ?? []) found.push(child);
    return found.slice(1).reverse();
  }

  #event(event: string, name: string | undefined, watchedPath: string): void {
    if (this.#cookies.take(watchedPath, name)) return;
    const directory = watchedPath === this.#root ? '' : watchedPath.slice(this.#root.length + 1);
    const watch = this.#watches.get(directory);
    if (watch === undefined) return;
    this.#hints.countEvent();
    const isSelf = name === undefined || watch.selfNames.has(name);
    if (isSelf) this.#selfEvent(event, directory);
    if (name === undefined || (directory === '' && name === stateDirectoryName)) return;
    if (isSelf && this.#isClosed(joinPath(directory, name))) return;
    // A name that is not UTF-8 has no path, and another member's state is not observed: a listing of the directory reports both.
    if (name.includes(replacementCharacter) || isStateName(name)) this.#hints.directory(directory, false);
    else this.#hints.path(joinPath(directory, name));
  }

  /** The directory itself changed, or an entry in it of the same name: the event does not distinguish them. */
  #selfEvent(event: string, directory: string): void {
    if (directory === '') this.#hints.directory('', false);
    else this.#hints.path(directory);
    if (event === 'rename' && !this.#moving.has(directory)) this.#recheck(directory);
  }

  /**
   * True if the directory of `path` may not be entered. The event is then about the directory itself: an entry of its name may not exist,
   * and must not become a problem. If it exists, the scans of closed directories find it.
   */
  #isClosed(path: string): boolean {
    try {
      lstatIfThere(this.#system, absolutePath(this.#root, path));
      return false;
    } catch (error) {
      return errorCodeOf(error) === 'EACCES';
    }
  }

  /** Replaces the watch of a directory that was removed or moved away. */
  #recheck(directory: string): void {
    const watch = this.#watches.get(directory);
    const now = this.#identify(directory);
    if (watch === undefined || (now !== undefined && isSame(watch, now))) return;
    this.forget(directory);
    if (now === undefined) return;
    // A new directory has the path: its entries were not watched.
    this.watch(directory);
    this.#hints.directory(directory, true);
  }

  #reportFailure(path: string, failure: Error): void {
    const code = errorCodeOf(failure);
    this.#log.debug({ path, code }, 'a directory cannot be watched');
    if (this.#limitReported || (code !== 'ENOSPC' && code !== 'EMFILE')) return;
    this.#limitReported = true;
    const setting = code === 'EMFILE' ? 'fs.inotify.max_user_instances' : 'fs.inotify.max_user_watches';
    this.#log.warn({ code, setting }, 'a limit of inotify is reached: some directories are scanned by timer; raise it');
  }
}

function isSame(a: Identity, b: Identity): boolean {
  return isOneInode(a, b) && a.birthtimeMs === b.birthtimeMs;
}

function inodeOf({ dev, ino }: Identity): string {
  return `${dev}:${ino}`;
}
