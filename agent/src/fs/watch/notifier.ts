import { LockstepError } from '@lockstep/shared';
import { FSWatcher } from 'chokidar';

/** Receives an event: `name` in the directory changed, or the directory itself. */
export type RawListener = (event: string, name: string | undefined, watchedPath: string) => void;

/** The result of setting a watch: set, no directory found, or failed. */
export type WatchOutcome = { readonly close: () => void } | 'absent' | { readonly failure: Error };

/**
 * chokidar reduced to one `fs.watch` for each directory, shared and closed properly, and its raw events. Its public `add` is not suitable.
 * It reads and stats the directory again after each event, which is too slow here. It cannot be awaited, so a directory could be listed
 * before it is watched. It watches each file, and treats backslashes in names as slashes. Instead, the method below `add` is called, which
 * sets a watch before it returns.
 */
export class Notifier extends FSWatcher {
  readonly #open = new Set<() => void>();
  #setting = false;
  #failure: Error | undefined;

  /** `failed` is called if a watch fails after it was set. Throws if this release of chokidar is not supported. */
  constructor(listener: RawListener, failed: (error: Error) => void) {
    super({ persistent: true, ignoreInitial: true, followSymlinks: false, atomic: false });
    const part = missingPart(this);
    if (part !== undefined) throw unsupported(part);
    // CHOKIDAR_USEPOLLING, set for another tool, would turn each watch into a poll without raw events.
    this.options = Object.freeze({ ...this.options, usePolling: false });
    this.on('raw', (event, name, details) => {
      // The details are typed unknown. The name may be null, contrary to its type: for the directory itself the kernel gives none.
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

  /** Sets the watch of a directory. It is active on return. */
  watchDirectory(absolute: string): WatchOutcome {
    this.#failure = undefined;
    this.#setting = true;
    // Each watch has its own listener: chokidar compares listeners by identity, and closes the watch with the last one.
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

  /** chokidar keeps the name of each watched directory. Its `unwatch` would also ignore that name and all below it from then on. */
  #forget(absolute: string): void {
    const slash = absolute.lastIndexOf('/');
    const parentPath = absolute.slice(0, slash) || '/';
    const parent = this._watched.get(parentPath);
    parent?.items.delete(absolute.slice(slash + 1));
    if (parent?.items.size === 0) this._watched.delete(parentPath);
  }
}

/** The first private member used here that `watcher` lacks, compared with chokidar 5. Undefined if it has all. */
export function missingPart(watcher: object): string | undefined {
  const { _nodeFsHandler: handler, _watched: watched } = watcher as Partial<FSWatcher>;
  if (typeof handler?._watchWithNodeFs !== 'function') return '_nodeFsHandler._watchWithNodeFs';
  return watched instanceof Map ? undefined : '_watched';
}

function unsupported(part: string): LockstepError {
  return new LockstepError(
    'watcher-unsupported',
    `The installed release of chokidar cannot watch the folder: ${part} is not as in 5.0.0. Nothing was changed. Install ` +
      'Lockstep again, with the exact versions of its dependencies.',
  );
}

function watchedPathOf(details: unknown): string | undefined {
  const isObject = typeof details === 'object' && details !== null && 'watchedPath' in details;
  return isObject && typeof details.watchedPath === 'string' ? details.watchedPath : undefined;
}
