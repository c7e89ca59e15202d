import type { Context } from '../state/context.ts';
import { AwaitedLooks } from './awaited-looks.ts';
import type { ScanQueue } from './scan-queue.ts';

const retryMs = 1_000;

/**
 * Knows up to when every name that appeared in the folder has been looked at. What is found gone may stand under another name that
 * nobody has told of yet, and a delete published before that name is would leave its content nowhere, were this member lost in between.
 */
export class WatchBarrier {
  readonly #context: Context;
  readonly #scans: ScanQueue;
  readonly #unseen: () => ReadonlyMap<string, number>;
  readonly #advanced: () => void;
  readonly #awaited = new AwaitedLooks();
  #blinded: () => void = () => undefined;
  #seenToMs = Number.NEGATIVE_INFINITY;
  #isBlind = false;
  /** Nothing is known before the whole folder was scanned once. */
  #mustScan = true;
  #isOpen = false;
  #running = false;
  #isWanted = false;

  /** `unseen`: paths that wait for a look, with its number. `advanced`: called when `seenToMs` has grown. */
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

  /** The look with this number saw what stands at `path`, and what it asked to have scanned is being scanned. */
  looked(path: string, look: number): void {
    this.#awaited.passed(path, look);
  }

  /** Something could not be seen at all, or was forgotten: only a scan of the whole folder brings it back. */
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
    if (this.#isBlind) return;
    const blinded = new Promise<void>((resolve) => {
      this.#blinded = resolve;
    });
    const awaited = this.#awaited.add(this.#unseen());
    await Promise.race([awaited.empty, blinded]);
    this.#awaited.remove(awaited);
  }
}
