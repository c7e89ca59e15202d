import { isBelow } from '@lockstep/shared';
import { errorCodeOf } from '../../os/system-error.ts';
import type { ActionResult } from '../../sync/ports/folder.ts';
import { type Descent, descending } from '../descent.ts';
import { isWorthSyncingTogether, syncPath } from '../durable.ts';
import { byFileSystem, fileSystemOf } from '../mounts/mounts.ts';
import { problemOf } from '../path-problem.ts';
import { absolutePath, type Places } from '../places.ts';

/** Actions that changed names in one directory. */
interface Touched {
  /** Relative to the folder. Undefined for one of the agent's own directories. */
  readonly path: string | undefined;
  readonly actions: number[];
}

/** The directories in which a batch changed names. None of its actions is done before these names are durable. */
export class TouchedDirectories {
  readonly #places: Places;
  /** By their absolute paths. */
  readonly #touched = new Map<string, Touched>();

  constructor(places: Places) {
    this.#places = places;
  }

  /** Records that an action of the batch, by its number, changed names in a directory of the folder. */
  add(path: string, action: number): void {
    this.#note(absolutePath(this.#places.root, path), { path, actions: [action] });
  }

  /** Records that it changed names in a directory of history. */
  addOwn(absolute: string, action: number): void {
    this.#note(absolute, { path: undefined, actions: [action] });
  }

  /** A touched directory that was renamed is synced at its new path. */
  renamed(from: string, to: string): void {
    for (const [absolute, { path, actions }] of [...this.#touched]) {
      if (path === undefined || (path !== from && !isBelow(path, from))) continue;
      this.#touched.delete(absolute);
      const now = to + path.slice(from.length);
      this.#note(absolutePath(this.#places.root, now), { path: now, actions });
    }
  }

  /**
   * Makes the names durable, those in history first: some file systems, such as btrfs, do not write names in their order. A power cut between
   * two syncs could take a replaced version there. Returns the results of the actions that failed.
   */
  sync(): ReadonlyMap<number, ActionResult> {
    const { system } = this.#places;
    const isOwn = (absolute: string) => this.#touched.get(absolute)?.path === undefined;
    const ordered = [...this.#touched.keys()].sort((a, b) => Number(isOwn(b)) - Number(isOwn(a)));
    const left = [...byFileSystem(this.#places, ordered)].flatMap(([fileSystem, group]) =>
      isWorthSyncingTogether(system, group.length) && system.syncFileSystem(fileSystem) ? [] : group,
    );
    const failed = new Map<number, ActionResult>();
    descending(this.#places, (descent) => {
      for (const absolute of left) {
        const failure = this.#syncOne(descent, absolute);
        if (failure === undefined) continue;
        for (const action of this.#touched.get(absolute)?.actions ?? []) failed.set(action, failure);
      }
    });
    return failed;
  }

  get isEmpty(): boolean {
    return this.#touched.size === 0;
  }

  #syncOne(descent: Descent, absolute: string): ActionResult | undefined {
    const { system } = this.#places;
    const path = this.#touched.get(absolute)?.path;
    try {
      const reached = path === undefined ? absolute : descent.directory(path)?.path;
      // Removed by a later action of the batch, or by a user: the sync of its parent counts.
      if (reached !== undefined) syncPath(system, reached);
      return undefined;
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      // A directory that may be written but not read cannot be opened for fsync.
      if (code === 'EACCES' && system.syncFileSystem(fileSystemOf(this.#places, absolute))) return undefined;
      return { result: 'problem', ...problemOf(error, absolute) };
    }
  }

  #note(absolute: string, touched: Touched): void {
    const known = this.#touched.get(absolute);
    if (known === undefined) this.#touched.set(absolute, touched);
    else known.actions.push(...touched.actions);
  }
}
