import { LockstepError } from '@lockstep/shared';
import { FSWatcher } from 'chokidar';

/** What a watch says: something happened to `name` in the directory, or to the directory itself. */
export type RawListener = (event: string, name: string | undefined, watchedPath: string) => void;

/** A watch that was set, that found nothing there, or that could not be set. */
export type WatchOutcome = { readonly close: () => void } | 'absent' | { readonly failure: Error };

/**
 * chokidar reduced to what it does best here: one `fs.watch` for each directory, shared and closed properly, and its raw
 * events. Its public `add` does not do the same: it reads and stats the directory again after each event, which a folder of this
 * size cannot afford; it cannot be awaited, so a directory could be listed before its watch is set; it sets a watch for each file;
 * and it takes backslashes in names for slashes. So the method below `add` is called, which sets a watch before it returns.
 */
export class Notifier extends FSWatcher {
  readonly #open = new Set<() => void>();
  #setting = false;
  #failure: Error | undefined;

  /** `failed` is called when watches that were set fail later on. Throws when this release of chokidar is not the one known here. */
  constructor(listener: RawListener, failed: (error: Error) => void) {
    super({ persistent: true, ignoreInitial: true, followSymlinks: false, atomic: false });
    const part = missingPart(this);
    if (part !== undefined) throw unsupported(part);
    // CHOKIDAR_USEPOLLING, set for some other tool, would turn every watch into a poll that has no raw events.
    this.options = Object.freeze({ ...this.options, usePolling: false });
    this.on('raw', (event, name, details) => {
      // The details are typed unknown, the name may be null whatever its type says: the kernel gives none for the directory itself.
      const watchedPath = watchedPathOf(details);
      if (watchedPath === undefined) throw unsupported('watchedPath of the event raw');
      listener(event, name ?? undefined, watchedPath);
    });
    this.on('error', (thrown) => {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown));
      if (this.#setting) this.#failure = error;
      else failed(error);
    });
  }

  /** Sets the watch of a directory; it is active when this returns. */
  watchDirectory(absolute: string): WatchOutcome {
    this.#failure = undefined;
    this.#setting = true;
    // A listener of its own for each watch: chokidar closes the watch with the last listener, and compares them by identity.
    const unwatch: unknown = this._nodeFsHandler._watchWithNodeFs(absolute, () => undefined);
    this.#setting = false;
    if (this.#failure !== undefined) return { failure: this.#failure };
    if (unwatch === undefined) return 'absent';
    if (typeof unwatch !== 'function') throw unsupported('_nodeFsHandler._watchWithNodeFs');
    const close = (): void => {
      if (!this.#open.delete(close)) return;
      unwatch();
      this.#forget(absolute);
    };
    this.#open.add(close);
    return { close };
  }

  override async close(): Promise<void> {
    for (const close of this.#open) close();
    await super.close();
  }

  /** chokidar keeps the name of each watched directory. Its `unwatch` would also remember it as ignored for ever, with all below it. */
  #forget(absolute: string): void {
    const slash = absolute.lastIndexOf('/');
    const parentPath = absolute.slice(0, slash) || '/';
    const parent = this._watched.get(parentPath);
    parent?.items.delete(absolute.slice(slash + 1));
    if (parent?.items.size === 0) this._watched.delete(parentPath);
  }
}

/** The first of the private members used here that `watcher` does not have as chokidar 5 does; undefined when it has all. */
export function missingPart(watcher: object): string | undefined {
  const { _nodeFsHandler: handler, _watched: watched } = watcher as Partial<FSWatcher>;
  if (typeof handler?._watchWithNodeFs !== 'function') return '_nodeFsHandler._watchWithNodeFs';
  return watched instanceof Map ? undefined : '_watched';
}

function unsupported(part: string): LockstepError {
  return new LockstepError(
    'watcher-unsupported',
    `The installed release of chokidar cannot watch the folder: ${part} is not what it is in 5.0.0. Nothing was changed. Install ` +
      'Lockstep again, with the versions that it names.',
  );
}

function watchedPathOf(details: unknown): string | undefined {
  const isObject = typeof details === 'object' && details !== null && 'watchedPath' in details;
  return isObject && typeof details.watchedPath === 'string' ? details.watchedPath : undefined;
}
