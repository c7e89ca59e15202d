import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Notifier } from './notifier.ts';

/** An event that takes longer than this counts as lost. */
const eventMsMax = 1_000;

/**
 * Determines how far events have been delivered, by the event of a file created for that purpose (in Watchman: a cookie). All watches share
 * one queue, so all earlier events have been delivered before this one.
 */
export class WatchCookies {
  readonly #directory: string;
  readonly #notifier: Notifier;
  readonly #awaited = new Map<string, (seen: boolean) => void>();
  #unwatch: (() => void) | undefined;
  #made = 0;

  /** `directory`: one of the agent's own, for no other purpose. */
  constructor(directory: string, notifier: Notifier) {
    this.#directory = directory;
    this.#notifier = notifier;
  }

  /** Resolves with true when all earlier events have been delivered; with false if they may be lost, or the folder is gone or full. */
  async pass(): Promise<boolean> {
    if (!(await this.#isWatched())) return false;
    const name = String(this.#made++);
    const path = join(this.#directory, name);
    const seen = new Promise<boolean>((resolve) => this.#awaited.set(name, resolve));
    const timer = setTimeout(() => this.#answer(name, false), eventMsMax);
    try {
      await writeFile(path, '');
      if (await seen) return true;
      // The watch may belong to a directory on a disk that was unmounted.
      this.#unwatch?.();
      this.#unwatch = undefined;
      return false;
    } catch {
      // The directory may have been removed, with its watch: the next pass creates it again.
      this.#unwatch?.();
      this.#unwatch = undefined;
      return false;
    } finally {
      clearTimeout(timer);
      this.#awaited.delete(name);
      await rm(path, { force: true }).catch(() => undefined);
    }
  }

  /** True if the event belongs to a cookie and is of no use elsewhere. */
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
    // Not recursive: a `.lockstep` that is missing, perhaps with its disk, must not be created here.
    await mkdir(this.#directory, { mode: 0o700 }).catch(() => undefined);
    if (this.#unwatch !== undefined) return true;
    const outcome = this.#notifier.watchDirectory(this.#directory);
    if (outcome === 'absent' || 'failure' in outcome) return false;
    this.#unwatch = outcome.close;
    return true;
  }
}
