import { batchPathsMax, dotKey } from '@lockstep/shared';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { WakeTimer } from '../scheduling/wake-timer.ts';
import { Pace } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher, FetchSize } from '../transfer/content-fetcher.ts';
import { ApplyBatch } from './apply-batch.ts';
import { BlockedPaths } from './blocked-paths.ts';
import type { RenameGate } from './rename-gate.ts';

const pausedReason = 'this member is paused';
const fetchingReason = 'its content is being fetched';
/** What broke the loop once, such as a full disk under the journal, may be over by then. */
const afterFailureMs = 1_000;
/** Fetches are begun some at a time: for a single one a page of rows would be read again and again. */
const roomWorthFilling = 16;

/** What came of going through the pending paths. */
interface PassOutcome {
  progress: boolean;
  waiting: boolean;
  /** A directory is to be moved otherwise than was planned. */
  planAgain: boolean;
}

/**
 * Makes the disk show the journal: streams the paths whose visible head the disk does not show, plans a batch, fetches what is
 * missing, carries the plan out and records it. What is left to do is never kept in memory: it is asked of the journal again.
 */
export class ApplyLoop {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #timer: WakeTimer;
  readonly #parked: BlockedPaths;
  readonly #batches: ApplyBatch;
  readonly #pace: Pace;
  /** Paths whose content has come, and where in the order of paths there was no room for more fetches of each size. */
  readonly #fetched: string[] = [];
  readonly #fetchesFrom = new Map<FetchSize, string>();
  readonly #loop: TaskLoop;
  #everything = false;
  #paused = false;

  constructor(context: Context, transfers: ContentFetcher, gate: RenameGate) {
    this.#context = context;
    this.#transfers = transfers;
    this.#timer = new WakeTimer(context.clock, () => this.poke());
    this.#parked = new BlockedPaths(context, this.#timer, () => transfers.mayLearnMore());
    this.#batches = new ApplyBatch(context, {
      transfers,
      gate,
      parked: this.#parked,
      timer: this.#timer,
      isPaused: () => this.#paused,
      nameOf: (member) => transfers.nameOf(member),
    });
    this.#pace = new Pace(context.clock);
    this.#follow(context, gate);
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#run(),
      failed: (error) => {
        context.log.error({ error: String(error) }, 'applying failed; it is tried again');
        this.#everything = true;
      },
      retryMs: afterFailureMs,
    });
  }

  stop(): void {
    this.#loop.stop();
    this.#timer.stop();
  }

  #follow({ facts }: Context, gate: RenameGate): void {
    for (const fact of [facts.made, facts.damaged, facts.sessionClosed]) fact.on(() => this.poke());
    for (const fact of [facts.revealed, facts.sessionOpened]) fact.on(() => this.unpark());
    facts.received.on((operations) => {
      // In the middle of a large rename there is nothing to do yet, and streaming all of it again for each frame would cost.
      if (operations.some((operation) => gate.isOpen(operation))) this.poke();
    });
    facts.fetched.on(({ paths }) => this.#contentsCame(paths));
    facts.second.on(() => {
      this.#parked.withdrawProblems();
      if (gate.tick()) this.poke();
    });
  }

  /** Changes nothing in the folder until `resume`; what has begun is finished. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.unpark();
  }

  get #isHalted(): boolean {
    return this.#paused || this.#loop.isStopped;
  }

  /** Something may have become possible: new operations, new content, a resolver's decision. */
  poke(): void {
    this.#everything = true;
    this.#loop.poke();
  }

  /** The content of these paths has come, or will not: they are seen to, and the next fetches begin, without a look at all the rest. */
  #contentsCame(paths: readonly string[]): void {
    this.#fetched.push(...paths);
    this.#loop.poke();
  }

  /** Forgets why paths were put off: somebody asks to try again, or the ignore rules changed. */
  unpark(): void {
    this.#parked.clear();
    this.poke();
  }

  /** Why a pending path is not applied yet, where that is known. */
  reason(path: string): string | undefined {
    if (this.#paused) return pausedReason;
    const fetching = this.#context.journal.heads(path).some((head) => this.#transfers.isFetching(head));
    return this.#parked.reason(path) ?? (fetching ? fetchingReason : undefined);
  }

  async #run(): Promise<void> {
    if (this.#isHalted) return;
    if (this.#fetched.length > 0) await this.#passFetched();
    const { restMs } = this.#pace;
    if (this.#everything && restMs > 0) this.#timer.in(restMs);
    if (this.#everything && restMs === 0) await this.#passEverything();
    else {
      for (const [size, from] of [...this.#fetchesFrom]) {
        if (this.#transfers.room(size) >= roomWorthFilling) await this.#pass('live', { size, from });
      }
    }
  }

  async #passEverything(): Promise<void> {
    this.#everything = false;
    const live = await this.#pass('live');
    // Were the deletes to come first, they would take away what is still to be moved.
    if (live.planAgain) return this.poke();
    const deleted = await this.#pass('delete');
    this.#pace.passed();
    // Deletes make room for files where directories were, and renames of directories settle both sides.
    if (deleted.progress || (live.progress && live.waiting)) this.poke();
  }

  /** Goes through the pending paths; for `fetches` only from there on, and until there is no room for more of them again. */
  async #pass(
    which: 'live' | 'delete',
    fetches?: { readonly size: FetchSize; readonly from: string },
  ): Promise<PassOutcome> {
    const { journal, lock, clock } = this.#context;
    const outcome: PassOutcome = { progress: false, waiting: false, planAgain: false };
    let after = fetches?.from;
    if (fetches !== undefined) this.#fetchesFrom.delete(fetches.size);
    else if (which === 'live') this.#fetchesFrom.clear();
    for (;;) {
      // More rows than there is room for would be planned in vain.
      const limit = fetches === undefined ? batchPathsMax : Math.max(1, this.#transfers.room(fetches.size));
      const query = { which, after, limit };
      await this.#pace.giveWay();
      if (this.#isHalted || journal.counts().pending === 0) return outcome;
      // The rows are read under the lock: what a look journals in the meantime must not be planned over.
      const { last, ...done } = await lock.run(async () => {
        const sinceMs = clock.monotonicMs();
        const rows = journal.pending(query);
        const batch = await this.#batches.run(rows);
        if (!batch.isReady) this.#pace.wasted(sinceMs);
        return { ...batch, last: rows.length < limit ? undefined : rows.at(-1)?.path };
      });
      outcome.progress ||= done.progress;
      outcome.waiting ||= done.waiting;
      outcome.planAgain ||= done.planAgain;
      if (which === 'live') for (const size of done.refused) this.#fetchLater(size, after ?? '');
      if (fetches !== undefined && this.#transfers.room(fetches.size) === 0) {
        if (last !== undefined) this.#fetchLater(fetches.size, last);
        return outcome;
      }
      if (last === undefined) return outcome;
      after = last;
    }
  }

  #fetchLater(size: FetchSize, from: string): void {
    if (!this.#fetchesFrom.has(size)) this.#fetchesFrom.set(size, from);
  }

  async #passFetched(): Promise<void> {
    const { journal, lock } = this.#context;
    while (this.#fetched.length > 0 && !this.#isHalted) {
      const paths = [...new Set(this.#fetched.splice(0, batchPathsMax))].sort();
      await lock.run(() => {
        const rows = paths.map((path) => ({ path, heads: journal.heads(path), disk: journal.disk(path) }));
        return this.#batches.run(
          rows.filter(
            ({ heads: [head], disk }) => head && (!disk || disk.damaged || dotKey(head) !== dotKey(disk.dot)),
          ),
        );
      });
    }
  }
}
