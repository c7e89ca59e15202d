import { joinPath } from '@lockstep/shared';
import type { WatchHint } from '../sync/ports/folder.ts';
import type { Disk, Inode } from './disk.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';

/** How the watcher of a run behaves. */
export interface WatchConduct {
  /** The longest time from a change to its hint. */
  readonly delayMsMax: number;
  /** How likely a delivery is lost to an overflow; a hint for the whole folder follows then. */
  readonly overflowChance: number;
}

/**
 * What inotify and chokidar make of changes: hints for directories that were watched when something happened, gathered and
 * late. A watch follows its directory when that is renamed, and keeps calling it by the old path until a scan finds it again.
 */
export class SimWatcher {
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #life: Life;
  readonly #conduct: WatchConduct;
  readonly #labels = new Map<Inode, string>();
  readonly #stopListening: () => void;
  #hint: ((hints: readonly WatchHint[]) => void) | undefined;
  #waiting = new Map<string, WatchHint>();
  readonly #flushed: (() => void)[] = [];

  constructor(options: {
    disk: Disk;
    scheduler: Scheduler;
    random: Random;
    life: Life;
    conduct: WatchConduct;
  }) {
    this.#scheduler = options.scheduler;
    this.#random = options.random;
    this.#life = options.life;
    this.#conduct = options.conduct;
    this.#stopListening = options.disk.listen((directory, name) => this.#changed(directory, name));
  }

  start(hint: (hints: readonly WatchHint[]) => void): void {
    this.#hint = hint;
  }

  /** Sets the watch of a directory, or corrects the path by which it is known. */
  watch(directory: Inode, path: string): void {
    this.#labels.set(directory, path);
  }

  /** Resolves when what waits now has been delivered. */
  flush(): Promise<void> {
    if (this.#waiting.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#flushed.push(resolve));
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
    this.#hint?.(lost ? [{ kind: 'directory', path: '', recursive: true }] : hints);
    for (const resolve of this.#flushed.splice(0)) resolve();
  }
}
