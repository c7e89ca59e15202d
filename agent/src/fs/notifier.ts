import { FSWatcher } from 'chokidar';

/** What a watch says: something happened to `name` in the directory, or to the directory itself. */
export type RawListener = (event: string, name: string | undefined, watchedPath: string) => void;

/** A watch that was set, that found nothing there, or that could not be set. */
export type WatchOutcome = { readonly close: () => void } | 'absent' | { readonly failure: Error };

/**
 * chokidar reduced to what it does best here: one `fs.watch` for each directory, shared and closed properly, and its raw
 * events. Its own answer to an event is to read and stat the whole directory again, which a folder of this size cannot
 * afford, and its `add` is of no use: it cannot be awaited, so a directory could be listed before its watch is set, and it
 * takes backslashes in names for slashes. So the method below `add` is called, which sets a watch before it returns.
 */
export class Notifier extends FSWatcher {
  #setting = false;
  #failure: Error | undefined;

  /** `failed` is called when watches that were set fail later on. */
  constructor(listener: RawListener, failed: (error: Error) => void) {
    super({ persistent: true, ignoreInitial: true, followSymlinks: false, atomic: false });
    // CHOKIDAR_USEPOLLING, set for some other tool, would turn every watch into a poll that has no raw events.
    this.options = Object.freeze({ ...this.options, usePolling: false });
    this.on('raw', (event, name, details) => {
      // The details are typed unknown, the name may be null whatever its type says: the kernel gives none for the directory itself.
      const watchedPath = watchedPathOf(details);
      if (watchedPath !== undefined) listener(event, name ?? undefined, watchedPath);
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
    const close = this._nodeFsHandler._watchWithNodeFs(absolute, () => undefined);
    this.#setting = false;
    if (this.#failure !== undefined) return { failure: this.#failure };
    if (close === undefined) return 'absent';
    this._addPathCloser(absolute, close);
    return { close: () => this.#closeDirectory(absolute) };
  }

  /** As `unwatch`, which would also remember the path as ignored for ever, and everything below it. */
  #closeDirectory(absolute: string): void {
    this._closeFile(absolute);
    const slash = absolute.lastIndexOf('/');
    const parentPath = absolute.slice(0, slash) || '/';
    const parent = this._watched.get(parentPath);
    parent?.items.delete(absolute.slice(slash + 1));
    if (parent?.items.size === 0) this._watched.delete(parentPath);
  }
}

function watchedPathOf(details: unknown): string | undefined {
  const isObject = typeof details === 'object' && details !== null && 'watchedPath' in details;
  return isObject && typeof details.watchedPath === 'string' ? details.watchedPath : undefined;
}
