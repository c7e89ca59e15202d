import { batchPathsMax, dotKey, type Operation, parentOf } from '@lockstep/shared';
import type { PendingPath } from '../../core/entry.ts';
import { type FetchSize, fetchSize } from '../exchange/fetch.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import { WakeTimer } from '../scheduling/wake-timer.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import { ApplyBatch } from './apply-batch.ts';
import { BlockedPaths } from './blocked-paths.ts';
import type { RenameGate } from './rename-gate.ts';

const pausedReason = 'this member is paused';
const fetchingReason = 'its content is being fetched';
/** A failure of the loop, such as a full disk under the journal, may be over after this time. */
const afterFailureMs = 1_000;
/** Room for this many fetches makes a pass worthwhile: a pass per fetch would read the same page of rows each time. */
const roomWorthFilling = 16;

/** The result of a pass over the pending paths. */
interface PassOutcome {
  progress: boolean;
  waiting: boolean;
  /** A directory must be moved in another way than planned. */
  planAgain: boolean;
}

/**
 * Applies the journal to the disk: streams the paths whose visible head is not on the disk, plans a batch, fetches missing
 * content, executes the plan and records the result. Pending work is never kept in memory: the journal is queried again.
 */
export class ApplyLoop {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #timer: WakeTimer;
  readonly #blocked: BlockedPaths;
  readonly #batches: ApplyBatch;
  readonly #yielder: Yielder;
  /** Paths that are not left to a pass over all: their fetch has ended, or should begin at once. */
  readonly #soon: string[] = [];
  /** For each size, the path from which on fetches found no room. */
  readonly #fetchesFrom = new Map<FetchSize, string>();
  readonly #loop: TaskLoop;
  #everything = false;
  #paused = false;

  constructor(context: Context, transfers: ContentFetcher, gate: RenameGate) {
    this.#context = context;
    this.#transfers = transfers;
    this.#timer = new WakeTimer(context.clock, () => this.poke());
    this.#blocked = new BlockedPaths(context, this.#timer, transfers);
    this.#batches = new ApplyBatch(context, {
      transfers,
      gate,
      blocked: this.#blocked,
      timer: this.#timer,
      isPaused: () => this.#paused,
      nameOf: (member) => transfers.nameOf(member),
    });
    this.#yielder = new Yielder(context.clock);
    this.#follow(context, gate);
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#run(),
      failed: (error) => {
        context.log.error({ error: String(error) }, 'applying failed; it is retried');
        this.#everything = true;
      },
      retryMs: afterFailureMs,
    });
  }

  /**
   * Records the changes that the last run made to the folder but could not record before it was killed. Call it before the first operation
   * arrives.
   */
  recordInterrupted(): Promise<void> {
    return this.#batches.recordInterrupted();
  }

  stop(): void {
    this.#loop.stop();
    this.#timer.stop();
  }

  #follow({ facts }: Context, gate: RenameGate): void {
    for (const fact of [facts.made, facts.damaged, facts.sessionClosed]) fact.on(() => this.poke());
    for (const fact of [facts.revealed, facts.sessionOpened]) fact.on(() => this.unblock());
    facts.received.on((operations) => {
      // An incomplete large rename cannot be applied yet, and streaming all of it again for each frame is expensive.
      if (!operations.some((operation) => gate.isOpen(operation))) return;
      // A large content takes long to come, and the line is idle while a pass applies thousands of small files.
      for (const { path } of operations.filter(isLargeContent)) this.#soon.push(...this.#missingParents(path), path);
      this.poke();
    });
    facts.fetched.on(({ paths }) => this.#applySoon(paths));
    facts.staged.on((content) => {
      for (const path of this.#transfers.pathsOf(content)) this.#blocked.arrives(path, content);
    });
    facts.demanded.on((path) => {
      // A reader waits: it is tried at once.
      this.#blocked.over(path);
      this.#applySoon([path]);
    });
    facts.roomMeasured.on((freeBytes) => {
      if (this.#blocked.measured(freeBytes)) this.poke();
    });
    facts.second.on(() => {
      this.#blocked.withdrawProblems();
      if (gate.tick()) this.poke();
    });
  }

  /** Stops changing the folder until `resume`; a batch under way is finished. */
  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.unblock();
  }

  get #isHalted(): boolean {
    return this.#paused || this.#loop.isStopped;
  }

  /** Requests a pass over all pending paths: after new operations, new content or a resolver's decision. */
  poke(): void {
    this.#everything = true;
    this.#loop.poke();
  }

  /** Applies these paths, whose fetches have ended or are wanted now, and begins the next fetches, without a pass over all the others. */
  #applySoon(paths: readonly string[]): void {
    for (const path of paths) this.#soon.push(path);
    this.#loop.poke();
  }

  /** Unblocks all paths: a user asked to try again, or the ignore rules changed. */
  unblock(): void {
    this.#blocked.clear();
    this.poke();
  }

  /** Why a pending path is not applied yet, if known. */
  reason(path: string): string | undefined {
    const fetching = this.#context.journal.heads.at(path).some((head) => this.#transfers.isFetching(head));
    return this.hindrance(path) ?? (fetching ? fetchingReason : undefined);
  }

  /** The reason why a path is not applied, unless it only takes time. */
  hindrance(path: string): string | undefined {
    return this.#paused ? pausedReason : this.#blocked.reason(path);
  }

  /** Paths that could not be applied and are tried again, at most `limit`. */
  blocked(limit: number): readonly string[] {
    const paths: string[] = [];
    for (const path of this.#blocked.paths()) {
      if (paths.length === limit) break;
      const [head] = this.#context.journal.heads.at(path);
      const row = this.#context.journal.disk.at(path);
      if (head !== undefined && (row === undefined || row.damaged || dotKey(row.dot) !== dotKey(head)))
        paths.push(path);
    }
    return paths;
  }

  async #run(): Promise<void> {
    if (this.#isHalted) return;
    await this.#passSoon();
    const { restMs } = this.#yielder;
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
    // Deletes must not come first: they would delete entries that are still to be moved.
    if (live.planAgain) return this.poke();
    const deleted = await this.#pass('delete');
    this.#yielder.passed();
    // Deletes make room for files in the place of directories, and renames of directories settle both sides.
    if (deleted.progress || (live.progress && live.waiting)) this.poke();
  }

  /** Visits the pending paths. With `fetches`, only from its path on, and until the fetcher has no room again. */
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
      // Rows beyond the room of the fetcher would be planned without a result.
      const limit = fetches === undefined ? batchPathsMax : Math.max(1, this.#transfers.room(fetches.size));
      const query = { which, after, limit };
      await this.#yielder.maybeYield();
      await this.#passSoon();
      if (this.#isHalted || journal.totals.counts().pending === 0) return outcome;
      // The rows are read under the lock: a change that is journaled in the meantime must not be planned over.
      const { last, ...done } = await lock.run(async () => {
        const sinceMs = clock.monotonicMs();
        const rows = journal.heads.pending(query);
        const batch = await this.#batches.run(rows);
        if (!batch.isReady) this.#yielder.wasted(sinceMs);
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

  /** The directories above the path that are not on this disk yet, parents first. */
  #missingParents(path: string): readonly string[] {
    const missing: string[] = [];
    for (let parent = parentOf(path); parent !== ''; parent = parentOf(parent)) {
      if (this.#context.journal.disk.at(parent)?.fingerprint !== undefined) break;
      missing.unshift(parent);
    }
    return missing;
  }

  /** True for a path that is pending, or whose file is remote and wanted now. */
  #isOpen({ path, heads: [head], disk }: PendingPath): boolean {
    if (head === undefined) return false;
    const isShown = disk !== undefined && !disk.damaged && dotKey(head) === dotKey(disk.dot);
    return !isShown || (disk.remote === true && this.#context.wanted.isWanted(path));
  }

  #fetchLater(size: FetchSize, from: string): void {
    if (!this.#fetchesFrom.has(size)) this.#fetchesFrom.set(size, from);
  }

  async #passSoon(): Promise<void> {
    const { journal, lock } = this.#context;
    while (this.#soon.length > 0 && !this.#isHalted) {
      const paths = [...new Set(this.#soon.splice(0, batchPathsMax))].sort();
      await lock.run(() => {
        const rows = paths.map((path) => ({ path, heads: journal.heads.at(path), disk: journal.disk.at(path) }));
        return this.#batches.run(rows.filter((row) => this.#isOpen(row)));
      });
    }
  }
}

function isLargeContent({ size = 0 }: Operation): boolean {
  return fetchSize(size) === 'large';
}
