import type { Context } from './context.ts';
import type { ScanQueue } from './scan-queue.ts';

const retryMs = 1_000;

/**
 * Knows up to when every name that appeared in the folder has been looked at. What is found gone may stand under another name that
 * nobody has told of yet, and a delete published before that name is would leave its content nowhere, were this member lost in between.
 */
export class Appearances {
  readonly #context: Context;
  readonly #scans: ScanQueue;
  readonly #unseen: () => readonly string[];
  readonly #advanced: () => void;
  readonly #awaited = new Set<{ readonly open: Set<string>; readonly resolve: () => void }>();
  #seenToMs = Number.NEGATIVE_INFINITY;
  #isBlind = false;
  /** Nothing is known before the whole folder was scanned once. */
  #mustScan = true;
  #isOpen = false;
  #running = false;
  #isWanted = false;

  /** `unseen`: paths that wait for a look. `advanced`: called when `seenToMs` has grown. */
  constructor(options: {
    readonly context: Context;
    readonly scans: ScanQueue;
    readonly unseen: () => readonly string[];
    readonly advanced: () => void;
  }) {
    this.#context = options.context;
    this.#scans = options.scans;
    this.#unseen = options.unseen;
    this.#advanced = options.advanced;
  }

  /** Every name that appeared before this moment of the monotonic clock has been looked at. */
  get seenToMs(): number {
    return this.#seenToMs;
  }

  /** The folder is watched from now on, and may be scanned. */
  open(): void {
    this.#isOpen = true;
    if (this.#isWanted) this.request();
  }

  /** Sees to it that `seenToMs` reaches the moment of this call. */
  request(): void {
    this.#isWanted = true;
    if (this.#running || !this.#isOpen) return;
    this.#running = true;
    this.#run().catch((error: unknown) => {
      this.#context.log.error({ error: String(error) }, 'a check for new names failed');
      this.#running = false;
    });
  }

  /** These paths have been looked at, and what their looks asked to have scanned is being scanned. */
  looked(paths: Iterable<string>): void {
    if (this.#awaited.size === 0) return;
    const looked = new Set(paths);
    for (const awaited of this.#awaited) {
      for (const path of looked) awaited.open.delete(path);
      if (awaited.open.size === 0) awaited.resolve();
    }
  }

  /** Something could not be seen at all, or was forgotten: only a scan of the whole folder brings it back. */
  lostSight(): void {
    this.#isBlind = true;
    for (const { resolve } of this.#awaited) resolve();
  }

  async #run(): Promise<void> {
    const { clock } = this.#context;
    while (this.#isWanted) {
      this.#isWanted = false;
      this.#isBlind = false;
      const sinceMs = clock.monotonicMs();
      await this.#look();
      if (this.#isBlind) {
        this.#mustScan = true;
        this.#isWanted = true;
        await new Promise<void>((resolve) => clock.after(retryMs, resolve));
      } else {
        this.#mustScan = false;
        this.#seenToMs = sinceMs;
        this.#advanced();
      }
    }
    this.#running = false;
  }

  async #look(): Promise<void> {
    const { folder } = this.#context;
    const isComplete = await folder.flushHints();
    if (!isComplete || this.#mustScan) await this.#scans.request('', true);
    await this.#allSeen();
    // What was moved into a directory that is new itself.
    await this.#scans.finished();
    await this.#allSeen();
  }

  async #allSeen(): Promise<void> {
    const open = new Set(this.#unseen());
    if (open.size === 0 || this.#isBlind) return;
    await new Promise<void>((resolve) => {
      const awaited = {
        open,
        resolve: () => {
          this.#awaited.delete(awaited);
          resolve();
        },
      };
      this.#awaited.add(awaited);
    });
  }
}
