import { dotKey, type MemberId, type Operation } from '@lockstep/shared';
import type { DiskChange, PendingPath } from '../../core/entry.ts';
import { planBatch } from '../../core/plan/plan.ts';
import { type FetchSize, fetchSize } from '../exchange/fetch.ts';
import type { WakeTimer } from '../scheduling/wake-timer.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import type { BlockedPaths } from './blocked-paths.ts';
import { StepExecutor } from './execute-steps.ts';
import { FailedSteps } from './interrupted-batch.ts';
import { JournalPlanView } from './plan-view.ts';
import type { RenameGate } from './rename-gate.ts';
import { changedEntries, readRacyRows } from './row-checks.ts';

/** Without progress, waiting paths are planned again after this time. */
const waitingLookMs = 500;

/** The result of a batch. */
export interface BatchOutcome {
  /** At least one of the paths was ready. */
  readonly isReady: boolean;
  readonly progress: boolean;
  readonly waiting: boolean;
  /** Sizes for which some fetches were refused, because the fetcher has no room. */
  readonly refused: ReadonlySet<FetchSize>;
  /** A directory must be moved in another way than planned. */
  readonly planAgain: boolean;
}

const nothingReady: BatchOutcome = {
  isReady: false,
  progress: false,
  waiting: false,
  refused: new Set(),
  planAgain: false,
};

/** Applies a batch of pending paths: selects those that are ready, plans, fetches missing content and executes the steps. */
export class ApplyBatch {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #gate: RenameGate;
  readonly #blocked: BlockedPaths;
  readonly #timer: WakeTimer;
  readonly #isPaused: () => boolean;
  readonly #nameOf: (member: MemberId) => string;
  readonly #failedSteps: FailedSteps;
  readonly #executor: StepExecutor;

  constructor(
    context: Context,
    parts: {
      readonly transfers: ContentFetcher;
      readonly gate: RenameGate;
      readonly blocked: BlockedPaths;
      readonly timer: WakeTimer;
      readonly isPaused: () => boolean;
      readonly nameOf: (member: MemberId) => string;
    },
  ) {
    const { transfers, gate, blocked, timer, isPaused, nameOf } = parts;
    this.#context = context;
    this.#transfers = transfers;
    this.#gate = gate;
    this.#blocked = blocked;
    this.#timer = timer;
    this.#isPaused = isPaused;
    this.#nameOf = nameOf;
    this.#failedSteps = new FailedSteps(context);
    this.#executor = new StepExecutor(context, { transfers, blocked, failedSteps: this.#failedSteps });
  }

  /** See `FailedSteps`. */
  recordInterrupted(): Promise<void> {
    return this.#context.lock.run(() => this.#failedSteps.recordInterrupted());
  }

  /** Applies what it can of `rows`. Call it under the folder lock, with rows that were read under the same lock. */
  async run(rows: readonly PendingPath[]): Promise<BatchOutcome> {
    const { journal, clock } = this.#context;
    const nowMs = clock.monotonicMs();
    const digest = journal.totals.digest();
    const open = await this.#withoutUnexamined(rows.filter((row) => this.#isReady(row, nowMs)));
    const examined = await this.#withoutRacy(open);
    if (examined.length === 0) return nothingReady;
    const view = await JournalPlanView.open(this.#context, examined, {
      isStaged: (content) => this.#transfers.isStaged(content),
      movesWhole: (operation) => this.#executor.movesWhole(operation),
    });
    // Operations of others are journaled without the folder lock. The plan asks the journal about other paths: both must be of one moment.
    const isAsRead = journal.totals.digest() === digest;
    if (!isAsRead) view.readAgain();
    const ready = isAsRead ? examined : examined.filter((row) => this.#isCurrent(row));
    if (ready.length === 0) return nothingReady;
    const plan = planBatch(ready, view);
    const records = await this.#withoutChanged(plan.records);
    if (records.length > 0) journal.disk.record(records);
    for (const head of plan.hidden) this.#blocked.block(head.path, head, 'its content is below a mount that hides it');
    const refused = new Set<FetchSize>();
    for (const operation of await this.#withoutUnseen(plan.needs)) {
      if (!this.#fetch(operation)) refused.add(fetchSize(operation.size ?? 0));
    }
    if (records.length > 0) this.#context.facts.applied.publish({ entries: 0, bytes: 0 });
    const done = await this.#executor.steps(plan.steps);
    const progress = records.length > 0 || done.progress;
    const waiting = plan.waiting.length > 0;
    // Waiting paths are planned again after progress elsewhere; without progress they only wait for one another.
    if (!progress && waiting) this.#timer.in(waitingLookMs);
    for (const { path } of records) this.#blocked.over(path);
    return { isReady: true, progress, waiting, refused, planAgain: done.planAgain };
  }

  #isReady(row: PendingPath, nowMs: number): boolean {
    const [head] = row.heads;
    if (head === undefined || this.#transfers.isFetching(head)) return false;
    const restMs = this.#blocked.restMs(row.path, head, nowMs);
    if (restMs > 0) {
      this.#timer.in(restMs);
      return false;
    }
    return this.#gate.isOpen(head);
  }

  /** False once the path has another visible head: the arrival of its operation requests another pass. */
  #isCurrent({ path, heads: [before] }: PendingPath): boolean {
    const [head] = this.#context.journal.heads.at(path);
    return before !== undefined && head !== undefined && dotKey(head) === dotKey(before);
  }

  /** The rows without those at whose path a step failed, while the disk did not show what it did all the same. */
  async #withoutUnexamined(rows: readonly PendingPath[]): Promise<readonly PendingPath[]> {
    const doubtful = rows.filter(({ path }) => this.#failedSteps.isUnseen(path)).map(({ path }) => path);
    if (doubtful.length === 0) return rows;
    await this.#failedSteps.examine(doubtful);
    const examined = new Set(doubtful);
    return rows.flatMap((row) => (examined.has(row.path) ? this.#afterExamination(row) : row));
  }

  /** The row as it is now; none if the path need not or must not be planned. */
  #afterExamination({ path, heads }: PendingPath): readonly PendingPath[] {
    const [head] = heads;
    if (head === undefined) return [];
    if (this.#failedSteps.isUnseen(path)) {
      this.#blocked.block(path, head, 'the disk does not show what is at its path since it failed');
      return [];
    }
    const disk = this.#context.journal.disk.at(path);
    const isPending = disk === undefined || disk.damaged || dotKey(disk.dot) !== dotKey(head);
    const isWanted = disk?.remote === true && this.#context.wanted.isWanted(path);
    return isPending || isWanted ? [{ path, heads, disk }] : [];
  }

  /** The rows without those whose entry must not be replaced yet, because it may hold a very recent edit of a user. */
  async #withoutRacy(rows: readonly PendingPath[]): Promise<readonly PendingPath[]> {
    const { certain, changed, racy, dirty, large } = await readRacyRows(this.#context, rows);
    for (const { path, heads } of changed) this.#awaitChange(path, heads[0]);
    for (const { path, heads } of racy) {
      if (heads[0]) this.#blocked.block(path, heads[0], 'its entry on this disk changed a moment ago');
    }
    if (dirty.length > 0) this.#context.facts.syncWanted.publish();
    for (const { path, heads } of dirty) {
      if (heads[0])
        this.#blocked.block(path, heads[0], 'its entry on this disk changed recently and is made durable first');
    }
    for (const { path, heads } of large) {
      if (heads[0])
        this.#blocked.block(path, heads[0], 'the large file at its path changed recently and is read again first');
    }
    return certain;
  }

  /** The records without those whose entry a user has changed: see `changedEntries`. */
  async #withoutChanged(records: readonly DiskChange[]): Promise<readonly DiskChange[]> {
    const changed = await changedEntries(this.#context, records);
    if (changed.size === 0) return records;
    for (const path of changed) this.#awaitChange(path, this.#context.journal.heads.at(path)[0]);
    return records.filter(({ path }) => !changed.has(path));
  }

  /** Leaves the path alone until the change of its entry was journaled. */
  #awaitChange(path: string, head: Operation | undefined): void {
    if (head) this.#blocked.block(path, head, 'its entry on this disk has changed, and that change is journaled first');
    this.#context.facts.doubted.publish(path);
  }

  /**
   * `needs` without those at whose path a file was never read, as after the journal was lost or in a newcomer's folder: the file
   * may hold that very content, and then no fetch is needed.
   */
  async #withoutUnseen(needs: readonly Operation[]): Promise<readonly Operation[]> {
    const { journal, folder } = this.#context;
    const unseen = needs.filter(({ path }) => journal.disk.at(path)?.fingerprint === undefined);
    if (unseen.length === 0) return needs;
    const observations = await folder.observe(unseen.map(({ path }) => ({ path })));
    const existing = new Set<string>();
    for (const { path, state } of observations) {
      if (state === 'file' || state === 'large' || state === 'changing') existing.add(path);
    }
    for (const operation of unseen) {
      if (!existing.has(operation.path)) continue;
      this.#blocked.block(operation.path, operation, 'the file at its path has not been read yet');
      this.#context.facts.doubted.publish(operation.path);
    }
    return needs.filter(({ path }) => !existing.has(path));
  }

  #wayOut(operation: Operation): string {
    const { missing, journal } = this.#context;
    const row = journal.disk.at(operation.path);
    const removal = row?.fingerprint === undefined ? 'put an empty one there and delete it' : 'delete what is there';
    const write =
      row?.damaged === true ? 'delete what is there, and then put a file there' : `put a file there, or ${removal}`;
    const [away, left] = [missing.blockedBy(operation), missing.leftWith(operation)];
    if (away.length + left.length === 0) return `No remaining member has it: ${write}.`;
    const events = [
      ...(away.length > 0 ? ['a member that has it is back'] : []),
      ...(left.length > 0 ? ['a member that left with it takes part again'] : []),
    ];
    const names = [...away, ...left].map((id) => this.#nameOf(id));
    return `It arrives when ${events.join(', or ')}; ${names.join(' or ')} may have it. If it is lost for good, ${write}.`;
  }

  /** Starts to fetch the content of `operation`. False if the fetcher has no room now. */
  #fetch(operation: Operation): boolean {
    const { path } = operation;
    // Its first blocks would be refused after they have come.
    if (this.#context.problems.has('disk-full')) {
      this.#blockWithoutRoom(operation, true);
      return true;
    }
    return this.#transfers.fetch(operation, (outcome) => {
      // A paused member asks no other member: that is no problem of the path.
      if (this.#isPaused()) return;
      if (outcome === 'missing') {
        const detail = `No reachable member has the content of ${path}. ${this.#wayOut(operation)}`;
        this.#blocked.block(path, operation, detail, 'content-missing');
      } else if (outcome === 'disk-full') {
        this.#blockWithoutRoom(operation, false);
      } else if (outcome === 'lost') {
        this.#blocked.block(
          path,
          operation,
          'the part of its content that was fetched is gone from .lockstep and is fetched again',
        );
      } else if (outcome !== 'ok' && outcome !== 'unneeded') this.#blocked.blockRefused(path, operation, outcome);
    });
  }

  #blockWithoutRoom(operation: Operation, isMeasured: boolean): void {
    const { path } = operation;
    const detail = `There is no room for ${path}. Free some space; Lockstep tries again automatically.`;
    this.#blocked.blockWithoutRoom(path, operation, detail, isMeasured);
  }
}
