import { eventBurstMax } from '@lockstep/shared';
import type { WatchHint } from '../../sync/ports/folder.ts';

const wholeFolder: readonly WatchHint[] = [{ kind: 'directory', path: '', recursive: true }];

/** Interval of ticks, and the delay of a tick that counts as a stall of the event loop. Each tick wakes an agent at rest. */
const tickMs = 1_000;
const stallMsMin = 1_000;

/** True if the event loop stalled between two ticks at these times, as in a stopped process or a suspended machine. */
export function isStall(lastTickMs: number, nowMs: number): boolean {
  return nowMs - lastTickMs > tickMs + stallMsMin;
}

/**
 * Gathers the hints of one turn of the event loop and delivers each once. The kernel drops events when its queue is full, and Node does not
 * report that (libuv ignores the event). A burst, or a stall during which the queue was not emptied, therefore counts as a loss, and
 * becomes a hint for the whole folder.
 */
export class HintGatherer {
  readonly #deliver: (hints: readonly WatchHint[]) => void;
  readonly #paths = new Set<string>();
  readonly #directories = new Map<string, boolean>();
  readonly #ticker: NodeJS.Timeout;
  readonly #waiting: (() => void)[] = [];
  #events = 0;
  #lost = false;
  #flush: NodeJS.Immediate | undefined;
  #lastTickMs = performance.now();

  constructor(deliver: (hints: readonly WatchHint[]) => void) {
    this.#deliver = deliver;
    this.#ticker = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Counts one event of the kernel, independent of its hints. */
  countEvent(): void {
    this.#events += 1;
    if (this.#events > eventBurstMax) this.loseTrack();
  }

  path(path: string): void {
    if (this.#lost) return;
    this.#paths.add(path);
    this.#schedule();
  }

  directory(path: string, recursive: boolean): void {
    if (this.#lost) return;
    this.#directories.set(path, recursive || (this.#directories.get(path) ?? false));
    this.#schedule();
  }

  /** Events may be lost: the whole folder is hinted at, and nothing else in this turn. */
  loseTrack(): void {
    this.#lost = true;
    this.#paths.clear();
    this.#directories.clear();
    this.#schedule();
  }

  /** Resolves when the hints gathered so far have been delivered. */
  delivered(): Promise<void> {
    if (this.#flush === undefined) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  close(): void {
    clearInterval(this.#ticker);
    if (this.#flush !== undefined) clearImmediate(this.#flush);
    this.#flush = undefined;
    this.#lost = true;
    this.#release();
  }

  #tick(): void {
    const nowMs = performance.now();
    if (isStall(this.#lastTickMs, nowMs)) this.loseTrack();
    this.#lastTickMs = nowMs;
  }

  #schedule(): void {
    this.#flush ??= setImmediate(() => {
      this.#flush = undefined;
      const hints = this.#take();
      this.#events = 0;
      if (hints.length > 0) this.#deliver(hints);
      this.#release();
    });
  }

  #release(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #take(): readonly WatchHint[] {
    if (this.#lost) {
      this.#lost = false;
      return wholeFolder;
    }
    const hints: WatchHint[] = [];
    for (const path of this.#paths) hints.push({ kind: 'path', path });
    for (const [path, recursive] of this.#directories) hints.push({ kind: 'directory', path, recursive });
    this.#paths.clear();
    this.#directories.clear();
    return hints;
  }
}
