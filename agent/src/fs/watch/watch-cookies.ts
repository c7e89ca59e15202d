import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Notifier } from './notifier.ts';

/** An event that has not come after this time is taken for lost. */
const eventMsMax = 1_000;

/**
 * Tells how far the events of the kernel have come, by the event of a file made for that purpose (Watchman calls it a cookie). All
 * watches share one queue, so whatever happened before the file was made has been reported when its event comes.
 */
export class WatchCookies {
  readonly #directory: string;
  readonly #notifier: Notifier;
  readonly #awaited = new Map<string, (seen: boolean) => void>();
  #unwatch: (() => void) | undefined;
  #made = 0;

  /** `directory`: one of the agent's own, for nothing else. */
  constructor(directory: string, notifier: Notifier) {
    this.#directory = directory;
    this.#notifier = notifier;
  }

  /** Resolves with true when all earlier events have come; with false when they may be lost, or the folder is gone or full. */
  async pass(): Promise<boolean> {
    if (!(await this.#isWatched())) return false;
    const name = String(this.#made++);
    const path = join(this.#directory, name);
    const seen = new Promise<boolean>((resolve) => this.#awaited.set(name, resolve));
    const timer = setTimeout(() => this.#answer(name, false), eventMsMax);
    try {
      await writeFile(path, '');
      if (await seen) return true;
      // The watch may be that of a directory on a disk that was unmounted.
      this.#unwatch?.();
      this.#unwatch = undefined;
      return false;
    } catch {
      // Somebody may have removed the directory, and its watch with it: the next pass makes it again.
      this.#unwatch?.();
      this.#unwatch = undefined;
      return false;
    } finally {
      clearTimeout(timer);
      this.#awaited.delete(name);
      await rm(path, { force: true }).catch(() => undefined);
    }
  }

  /** True when the event was that of a directory of cookies, and nobody else's business. */
  take(watchedPath: string, name: string | undefined): boolean {
    if (watchedPath !== this.#directory) return false;
    if (name !== undefined) this.#answer(name, true);
    return true;
  }

  close(): void {
    for (const name of this.#awaited.keys()) this.#answer(name, false);
  }

  #answer(name: string, seen: boolean): void {
    this.#awaited.get(name)?.(seen);
  }

  async #isWatched(): Promise<boolean> {
    if (this.#unwatch !== undefined) return true;
    // Not recursively: a .lockstep that is gone, with its disk perhaps, must not be made by this.
    await mkdir(this.#directory, { mode: 0o700 }).catch(() => undefined);
    if (this.#unwatch !== undefined) return true;
    const outcome = this.#notifier.watchDirectory(this.#directory);
    if (outcome === 'absent' || 'failure' in outcome) return false;
    this.#unwatch = outcome.close;
    return true;
  }
}
