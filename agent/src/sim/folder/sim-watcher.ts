import { isBelow, joinPath } from '@lockstep/shared';
import type { DirectoryWatches } from '../../fs/watch/directory-watches.ts';
import type { UnwatchedDirectory, WatchHint } from '../../sync/ports/folder.ts';
import type { Life } from '../base/life.ts';
import type { Random } from '../base/random.ts';
import type { Scheduler } from '../base/scheduler.ts';
import type { Inode } from '../disk/inode.ts';
import type { Volume } from '../disk/volume.ts';
import { whileAlive } from './sim-jobs.ts';

/** The behaviour of the watcher in a run. */
export interface WatchConduct {
  /** The longest time from a change to its hint. */
  readonly delayMsMax: number;
  /** The probability that a delivery is lost by an overflow; a hint for the whole folder then replaces it. */
  readonly overflowChance: number;
}

/**
 * Simulates inotify and chokidar: hints for changes in watched directories, gathered and delayed. A watch stays with its directory when a
 * user renames it, and uses the old path until a scan finds the directory again.
 */
export class SimWatcher implements DirectoryWatches {
  readonly #volume: Volume;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #life: Life;
  readonly #conduct: WatchConduct;
  readonly #hint: (hints: readonly WatchHint[]) => void;
  readonly #labels = new Map<Inode, string>();
  readonly #stopListening: () => void;
  #waiting = new Map<string, WatchHint>();
  readonly #flushed: (() => void)[] = [];

  constructor(options: {
    volume: Volume;
    scheduler: Scheduler;
    random: Random;
    life: Life;
    conduct: WatchConduct;
    hint: (hints: readonly WatchHint[]) => void;
  }) {
    this.#volume = options.volume;
    this.#scheduler = options.scheduler;
    this.#random = options.random;
    this.#life = options.life;
    this.#conduct = options.conduct;
    this.#hint = options.hint;
    this.#stopListening = options.volume.disk.listen((directory, name) => this.#changed(directory, name));
  }

  unwatched(): readonly UnwatchedDirectory[] {
    return [];
  }

  watch(path: string): number | undefined {
    const directory = this.#volume.missing ? undefined : this.#volume.disk.at(path);
    if (directory?.type !== 'directory') {
      this.forget(path);
      return undefined;
    }
    this.#labels.set(directory, path);
    return directory.number;
  }

  /** The watch stays with the directory. */
  moving(): void {}

  moved(from: string, to: string | undefined): void {
    if (to === undefined) return;
    for (const [directory, label] of this.#labels) {
      if (label === from || isBelow(label, from)) this.#labels.set(directory, to + label.slice(from.length));
    }
  }

  forget(path: string): void {
    for (const [directory, label] of this.#labels) {
      if (label === path || isBelow(label, path)) this.#labels.delete(directory);
    }
  }

  flush(): Promise<boolean> {
    return whileAlive(this.#life, async () => {
      await this.#scheduler.pause(this.#random.unit(), this.#life);
      if (this.#volume.missing || this.#volume.full !== undefined) return false;
      if (this.#waiting.size > 0) await new Promise<void>((resolve) => this.#flushed.push(resolve));
      return true;
    });
  }

  async close(): Promise<void> {
    this.#stopListening();
  }

  #changed(directory: Inode, name: string | undefined): void {
    if (!this.#life.alive) {
      this.#stopListening();
      return;
    }
    const label = this.#labels.get(directory);
    if (label === undefined) return;
    if (directory.links === 0) this.#labels.delete(directory);
    const path = name === undefined ? label : joinPath(label, name);
    if (path === '') this.#add({ kind: 'directory', path: '', recursive: false });
    else this.#add({ kind: 'path', path });
  }

  #add(hint: WatchHint): void {
    if (this.#waiting.size === 0) {
      const delayMs = this.#random.unit() ** 2 * this.#conduct.delayMsMax;
      this.#scheduler.after(delayMs, () => this.#deliver(), this.#life);
    }
    this.#waiting.set(`${hint.kind} ${hint.path}`, hint);
  }

  #deliver(): void {
    const hints = [...this.#waiting.values()];
    this.#waiting = new Map();
    const lost = this.#random.chance(this.#conduct.overflowChance);
    this.#hint(lost ? [{ kind: 'directory', path: '', recursive: true }] : hints);
    for (const resolve of this.#flushed.splice(0)) resolve();
  }
}
