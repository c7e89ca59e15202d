import type { Context } from '../state/context.ts';
import { PathWaits } from './path-waits.ts';
import type { ScanQueue } from './scan-queue.ts';

const retryMs = 1_000;

/**
 * A barrier for new names: the time up to which every name that appeared in the folder has been examined. A missing entry may have
 * another name that was not reported yet. If its delete were published first, the loss of this member would lose the content.
 */
export class WatchBarrier {
  readonly #context: Context;
  readonly #scans: ScanQueue;
  readonly #unseen: () => ReadonlyMap<string, number>;
  readonly #advanced: () => void;
  readonly #awaited = new PathWaits();
  #blinded: () => void = () => undefined;
  #scannedUpToMs = Number.NEGATIVE_INFINITY;
  #isBlind = false;
  /** The first run must scan the whole folder. */
  #mustScan = true;
  #isOpen = false;
  #running = false;
  #isWanted = false;

  /** `unseen`: paths that wait for a detection, with its number. `advanced`: called when `scannedUpToMs` has grown. */
  constructor(options: {
    readonly context: Context;
    readonly scans: ScanQueue;
    readonly unseen: () => ReadonlyMap<string, number>;
    readonly advanced: () => void;
  }) {
    this.#context = options.context;
    this.#scans = options.scans;
    this.#unseen = options.unseen;
    this.#advanced = options.advanced;
  }

  /** Every name that appeared before this time of the monotonic clock has been examined. */
  get scannedUpToMs(): number {
    return this.#scannedUpToMs;
  }

  /** The watcher runs, so that the folder may be scanned. */
  open(): void {
    this.#isOpen = true;
    if (this.#isWanted) this.request();
  }

  /** Starts a run that advances `scannedUpToMs` at least to the time of this call. */
  request(): void {
    this.#isWanted = true;
    if (this.#running || !this.#isOpen) return;
    this.#running = true;
    this.#run().catch((error: unknown) => {
      this.#context.log.error({ error: String(error) }, 'a check for new names failed');
      this.#running = false;
    });
  }

  /** The detection with this number has examined `path`, and the scans that it requested are scheduled. */
  examined(path: string, detection: number): void {
    this.#awaited.passed(path, detection);
  }

  /** Some names could not be seen, or were forgotten: only a scan of the whole folder finds them. */
  lostSight(): void {
    this.#isBlind = true;
    this.#blinded();
  }

  async #run(): Promise<void> {
    const { clock } = this.#context;
    while (this.#isWanted) {
      this.#isWanted = false;
      this.#isBlind = false;
      const sinceMs = clock.monotonicMs();
      await this.#examineAll();
      if (this.#isBlind) {
        this.#mustScan = true;
        this.#isWanted = true;
        await this.#wait();
      } else {
        this.#mustScan = false;
        this.#scannedUpToMs = sinceMs;
        this.#advanced();
      }
    }
    this.#running = false;
  }

  async #examineAll(): Promise<void> {
    const { folder } = this.#context;
    const isComplete = await folder.flushHints();
    if (!isComplete || this.#mustScan) await this.#scans.request('', true);
    await this.#allSeen();
    // Scans of new directories may have found entries that were moved into them.
    await this.#scans.finished();
    await this.#listUnread();
    await this.#allSeen();
  }

  /** Lists directories that could not be listed once more, until all are or have been unreadable for long. */
  async #listUnread(): Promise<void> {
    for (
      let unread = this.#scans.newlyUnread();
      unread.length > 0 && !this.#isBlind;
      unread = this.#scans.newlyUnread()
    ) {
      await this.#wait();
      await Promise.all(unread.map((directory) => this.#scans.request(directory, true)));
    }
  }

  #wait(): Promise<void> {
    return new Promise((resolve) => this.#context.clock.after(retryMs, resolve));
  }

  async #allSeen(): Promise<void> {
    if (this.#isBlind) return;
    const blinded = new Promise<void>((resolve) => {
      this.#blinded = resolve;
    });
    const awaited = this.#awaited.add(this.#unseen());
    await Promise.race([awaited.empty, blinded]);
    this.#awaited.remove(awaited);
  }
}
