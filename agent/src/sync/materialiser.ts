import type { ContentId, Operation, ProblemCode } from '@lockstep/shared';
import { batchBytesMax, batchPathsMax, dotKey, inlineBytesMax, parentOf } from '@lockstep/shared';
import { backoffMs } from '../core/backoff.ts';
import type { DiskChange, PendingPath } from '../core/disk-entry.ts';
import { ignoreFileName } from '../core/ignore-rules.ts';
import { type Plan, planBatch } from '../core/plan.ts';
import { isDirectoryMode, type PlanStep } from '../core/plan-step.ts';
import type { Context } from './context.ts';
import type { GroupGate } from './group-gate.ts';
import { JournalView } from './journal-view.ts';
import { Pace } from './pace.ts';
import { PathTroubles } from './path-troubles.ts';
import type { ActionResult } from './ports/folder.ts';
import { lookAtRacyRows } from './racy-rows.ts';
import type { Transfers } from './transfers.ts';

const pausedReason = 'this member is paused';
const retry = { minMs: 50, maxMs: 10_000 };
/** Fetches are begun some at a time: for a single one a page of rows would be read again and again. */
const roomWorthFilling = 16;
const parkedMax = 100_000;
/** Failures to remove a directory that is empty as far as the journal knows, before it is kept. */
const keepDirectoryAfter = 3;
/** Forgetting them costs one more attempt each. */
const notWholeMax = 1_000;

/** A path that could not be brought to its head: tried again later, or when the head changes. */
interface Parked {
  readonly head: string;
  readonly attempts: number;
  readonly untilMs: number;
  readonly reason: string;
}

/** Whom the materialiser tells what. */
export interface MaterialiserEvents {
  /** So many entries, and bytes of files among them, were brought to their heads. */
  applied(count: number, bytes: number): void;
  /** Something else than expected stands at the path. */
  look(path: string): void;
  /** A directory was made or moved here: it must be watched, and what came into it meanwhile found. */
  scan(directory: string): void;
  ignoreRules(): void;
}

/** What came of some pending paths. */
interface BatchOutcome {
  /** Anything could be done for any of them. */
  readonly isReady: boolean;
  readonly progress: boolean;
  readonly waiting: boolean;
  /** There was no room for all fetches. */
  readonly refused: boolean;
  /** Where to go on, unless these were the last. */
  readonly last: string | undefined;
}

/**
 * Makes the disk show the journal: streams the paths whose visible head the disk does not show, plans a batch, fetches what is
 * missing, carries the plan out and records it. What is left to do is never kept in memory: it is asked of the journal again.
 */
export class Materialiser {
  readonly #context: Context;
  readonly #transfers: Transfers;
  readonly #gate: GroupGate;
  readonly #notify: MaterialiserEvents;
  readonly #parked = new Map<string, Parked>();
  readonly #troubles: PathTroubles;
  readonly #pace: Pace;
  /** Renames of directories that hold more than the journal knows: their entries are moved one by one. */
  readonly #notWhole = new Set<string>();
  #planAgain = false;
  /** Paths whose content has come, and where in the order of paths there was no room for more fetches. */
  readonly #fetched: string[] = [];
  #fetchesFrom: string | undefined;
  #everything = false;
  #wanted = false;
  #running = false;
  #paused = false;
  #stopped = false;
  #wakeAtMs: number | undefined;
  #wake: { cancel(): void } | undefined;

  constructor(context: Context, transfers: Transfers, gate: GroupGate, notify: MaterialiserEvents) {
    this.#context = context;
    this.#transfers = transfers;
    this.#gate = gate;
    this.#notify = notify;
    this.#troubles = new PathTroubles(context, () => transfers.mayLearnMore());
    this.#pace = new Pace(context.clock);
  }

  stop(): void {
    this.#stopped = true;
    this.#wake?.cancel();
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
    return this.#paused || this.#stopped;
  }

  /** Something may have become possible: new operations, new content, a steward's decision. */
  poke(): void {
    this.#everything = true;
    this.#start();
  }

  /** The content of these paths has come, or will not: they are seen to, and the next fetches begin, without a look at all the rest. */
  fetched(paths: readonly string[]): void {
    this.#fetched.push(...paths);
    this.#start();
  }

  #start(): void {
    this.#wanted = true;
    if (this.#running || this.#isHalted) return;
    this.#running = true;
    this.#run()
      .catch((error: unknown) => {
        this.#context.log.error({ error: String(error) }, 'materialising failed; it is tried again');
        this.#wakeIn(retry.maxMs / 10);
      })
      .finally(() => {
        this.#running = false;
        if (this.#wanted) this.#start();
      });
  }

  /** Forgets why paths were put off: somebody asks to try again, or the ignore rules changed. */
  unpark(): void {
    this.#parked.clear();
    this.poke();
  }

  /** Called now and then: withdraws problems of what is not pending any more. */
  withdrawProblems(): void {
    this.#troubles.withdraw();
  }

  /** Why a pending path is not applied yet, where that is known. */
  reason(path: string): string | undefined {
    if (this.#paused) return pausedReason;
    const fetching = this.#context.journal.heads(path).some((head) => this.#transfers.isFetching(head));
    return this.#parked.get(path)?.reason ?? (fetching ? 'its content is being fetched' : undefined);
  }

  async #run(): Promise<void> {
    while (this.#wanted && !this.#isHalted) {
      this.#wanted = false;
      if (this.#fetched.length > 0) await this.#passFetched();
      const { restMs } = this.#pace;
      if (this.#everything && restMs > 0) this.#wakeIn(restMs);
      if (!this.#everything || restMs > 0) {
        if (this.#fetchesFrom !== undefined && this.#transfers.room >= roomWorthFilling)
          await this.#pass('live', this.#fetchesFrom);
        continue;
      }
      this.#everything = false;
      this.#planAgain = false;
      const live = await this.#pass('live');
      if (this.#planAgain) {
        // Were the deletes to come first, they would take away what is still to be moved.
        this.#everything = true;
        this.#wanted = true;
        continue;
      }
      const deleted = await this.#pass('delete');
      this.#pace.passed();
      // Deletes make room for files where directories were, and renames of directories settle both sides.
      if (deleted.progress || (live.progress && live.waiting)) {
        this.#everything = true;
        this.#wanted = true;
      }
    }
  }

  /** Goes through the pending paths; from `fetchesFrom` on only until there is no room for more fetches again. */
  async #pass(which: 'live' | 'delete', fetchesFrom?: string): Promise<{ progress: boolean; waiting: boolean }> {
    const { journal, lock, clock } = this.#context;
    let after = fetchesFrom;
    if (which === 'live') this.#fetchesFrom = undefined;
    let progress = false;
    let waiting = false;
    for (;;) {
      // More rows than there is room for would be planned in vain.
      const limit = fetchesFrom === undefined ? batchPathsMax : Math.max(1, this.#transfers.room);
      const query = { which, after, limit };
      await this.#pace.giveWay();
      if (this.#isHalted || journal.counts().pending === 0) return { progress, waiting };
      // The rows are read under the lock: what a look journals in the meantime must not be planned over.
      const done = await lock.run(async () => {
        const sinceMs = clock.monotonicMs();
        const outcome = await this.#batch(journal.pending(query), limit);
        if (!outcome.isReady) this.#pace.wasted(sinceMs);
        return outcome;
      });
      progress ||= done.progress;
      waiting ||= done.waiting;
      if (done.refused && which === 'live') this.#fetchesFrom ??= after ?? '';
      if (fetchesFrom !== undefined && this.#transfers.room === 0) {
        this.#fetchesFrom ??= done.last;
        return { progress, waiting };
      }
      after = done.last;
      if (after === undefined) return { progress, waiting };
    }
  }

  async #passFetched(): Promise<void> {
    const { journal, lock } = this.#context;
    while (this.#fetched.length > 0 && !this.#isHalted) {
      const paths = [...new Set(this.#fetched.splice(0, batchPathsMax))].sort();
      await lock.run(() => {
        const rows = paths.map((path) => ({ path, heads: journal.heads(path), disk: journal.disk(path) }));
        return this.#batch(
          rows.filter(({ heads: [head], disk }) => head && (!disk || dotKey(head) !== dotKey(disk.dot))),
          batchPathsMax,
        );
      });
    }
  }

  #isReady(row: PendingPath, nowMs: number): boolean {
    const [head] = row.heads;
    if (head === undefined || this.#transfers.isFetching(head)) return false;
    const parked = this.#parked.get(row.path);
    if (parked !== undefined) {
      if (parked.head === dotKey(head) && parked.untilMs > nowMs) {
        this.#wakeIn(parked.untilMs - nowMs);
        return false;
      }
    }
    return this.#gate.isOpen(head);
  }

  /** Plans and carries out what can be done of these rows. `last`: where to go on, unless there were fewer than `limit`. */
  async #batch(rows: readonly PendingPath[], limit: number): Promise<BatchOutcome> {
    const { journal, clock } = this.#context;
    const last = rows.length < limit ? undefined : rows.at(-1)?.path;
    const nowMs = clock.monotonicMs();
    const ready = await this.#withoutRacy(rows.filter((row) => this.#isReady(row, nowMs)));
    if (ready.length === 0) return { isReady: false, progress: false, waiting: false, refused: false, last };
    const view = await JournalView.open(
      this.#context,
      ready,
      (content) => this.#transfers.isStaged(content),
      (operation) => !this.#notWhole.has(dotKey(operation)),
    );
    const plan = planBatch(ready, view);
    if (plan.records.length > 0) journal.recordDisk(plan.records);
    let refused = false;
    for (const operation of await this.#withoutUnseen(plan.needs)) refused = !this.#fetch(operation) || refused;
    let progress = plan.records.length > 0;
    if (progress) this.#notify.applied(0, 0);
    for (const steps of inBatches(plan.steps)) progress = (await this.#apply(steps)) || progress;
    this.#forget(plan, progress);
    return { isReady: true, progress, waiting: plan.waiting.length > 0, refused, last };
  }

  #forget(plan: Plan, progress: boolean): void {
    // Waiting paths are looked at again when something else has moved; without that they only wait for others.
    if (!progress && plan.waiting.length > 0) this.#wakeIn(retry.minMs * 10);
    for (const { path } of plan.records) {
      this.#parked.delete(path);
      this.#troubles.over(path);
    }
  }

  /** Without those over whose entries nothing may be put yet, for a user's edit of this moment might be under it. */
  async #withoutRacy(rows: readonly PendingPath[]): Promise<readonly PendingPath[]> {
    const { certain, changed, racy } = await lookAtRacyRows(this.#context, rows);
    for (const { path, heads } of changed) {
      if (heads[0]) this.#park(path, heads[0], 'what stands there has changed and is looked at first');
      this.#notify.look(path);
    }
    for (const { path, heads } of racy) {
      if (heads[0]) this.#park(path, heads[0], 'what stands there has changed a moment ago');
    }
    return certain;
  }

  /**
   * Without those at whose path a file stands that was never looked at: after the journal was lost, or in a newcomer's folder, it
   * may hold that very content, and then nothing is to be fetched.
   */
  async #withoutUnseen(needs: readonly Operation[]): Promise<readonly Operation[]> {
    const { journal, folder } = this.#context;
    const unseen = needs.filter(({ path }) => journal.disk(path)?.fingerprint === undefined);
    if (unseen.length === 0) return needs;
    const observations = await folder.observe(unseen.map(({ path }) => ({ path })));
    const standing = new Set<string>();
    for (const { path, state } of observations) {
      if (state === 'file' || state === 'large' || state === 'changing') standing.add(path);
    }
    for (const operation of unseen) {
      if (!standing.has(operation.path)) continue;
      this.#park(operation.path, operation, 'a file stands there that has not been read yet');
      this.#notify.look(operation.path);
    }
    return needs.filter(({ path }) => !standing.has(path));
  }

  /** False when there is no room for it now. */
  #fetch(operation: Operation): boolean {
    return this.#transfers.fetch(operation, (outcome) => {
      // Nobody can be asked then; that is no trouble of the path.
      if (this.#paused) return;
      if (outcome === 'missing') {
        const detail = `No reachable member has the content of ${operation.path}. It comes when one that has it is back.`;
        this.#park(operation.path, operation, detail, 'content-missing');
      } else if (outcome === 'disk-full') {
        this.#park(operation.path, operation, diskFullDetail(operation.path), 'disk-full');
      }
    });
  }

  async #apply(steps: readonly PlanStep[]): Promise<boolean> {
    const { journal, folder, inbox } = this.#context;
    const results = await folder.apply(steps.map((step) => step.request));
    const changes: DiskChange[] = [];
    // Of several writes of one staged content the last takes its file. Where that one fails the file is left over.
    const taken = new Set<ContentId>();
    let count = 0;
    let bytes = 0;
    for (const [index, step] of steps.entries()) {
      const result = results[index];
      if (result === undefined) continue;
      const { action } = step.request;
      if (result.result !== 'done') {
        if (action.do === 'write') taken.delete(action.content);
        this.#failed(step, result);
        continue;
      }
      changes.push(...step.record(result.fingerprint, result.racy ?? false));
      count++;
      this.#parked.delete(step.path);
      this.#troubles.over(step.path);
      if (action.do === 'write') {
        bytes += action.size;
        inbox.delete(action.content);
        if (action.source.from === 'staged') taken.add(action.content);
        else this.#transfers.drop(action.content);
      }
      if (action.do === 'mkdir') this.#notify.scan(action.path);
      if (action.do === 'rename-directory') this.#notify.scan(action.to);
      if (step.path === ignoreFileName) this.#notify.ignoreRules();
    }
    for (const content of taken) this.#transfers.applied(content);
    if (changes.length > 0) {
      journal.recordDisk(changes);
      this.#notify.applied(count, bytes);
    }
    return changes.length > 0;
  }

  #failed(step: PlanStep, result: Exclude<ActionResult, { result: 'done' }>): void {
    const { action } = step.request;
    const head = this.#context.journal.heads(step.path)[0];
    if (head === undefined) return;
    if (result.result === 'changed') {
      // Somebody changed what we were about to change: their edit is journaled first.
      if (action.do === 'rename-directory' && !this.#notWhole.has(dotKey(head))) this.#moveOneByOne(head);
      else this.#park(step.path, head, 'what stands there has changed and is looked at first');
      this.#notify.look(step.path);
      // It may be the parent that is gone, and the event of that was lost.
      this.#notify.look(parentOf(step.path));
      if (action.do === 'rename' || action.do === 'rename-directory') this.#notify.look(action.from);
      const expected = 'expected' in action ? action.expected : undefined;
      const removes = typeof expected === 'object' && action.do !== 'attr' && isDirectoryMode(expected.mode);
      if (action.do === 'rmdir' || removes) this.#keepDirectory(step, head);
    } else if (result.result === 'source-gone') {
      if (action.do === 'write') {
        this.#context.inbox.delete(action.content);
        this.#transfers.drop(action.content);
        if (action.source.from === 'file') this.#notify.look(action.source.path);
      }
      this.#park(step.path, head, 'the local copy of its content has changed');
    } else this.#park(step.path, head, result.detail, result.code);
  }

  #moveOneByOne(rename: Operation): void {
    if (this.#notWhole.size >= notWholeMax) this.#notWhole.clear();
    this.#notWhole.add(dotKey(rename));
    this.#planAgain = true;
  }

  /**
   * Something that the journal does not know keeps a directory that should go: a socket, an ignored file. The row is forgotten, so
   * that the directory is found as new here, and raises the directory again: what is this member's own business stays.
   */
  #keepDirectory(step: PlanStep, head: Operation): void {
    const { journal } = this.#context;
    const attempts = this.#parked.get(step.path)?.attempts ?? 0;
    if (attempts < keepDirectoryAfter || journal.diskBelow(step.path, undefined, 1).length > 0) return;
    journal.recordDisk([{ path: step.path, entry: { dot: { origin: head.origin, seq: head.seq } } }]);
    this.#notify.scan(step.path);
  }

  #park(path: string, head: Operation, reason: string, code?: ProblemCode): void {
    const { clock } = this.#context;
    const known = this.#parked.get(path);
    const attempts = known?.head === dotKey(head) ? known.attempts + 1 : 0;
    const delayMs = backoffMs(attempts, retry, clock.random());
    if (this.#parked.size < parkedMax || known) {
      this.#parked.set(path, { head: dotKey(head), attempts, untilMs: clock.monotonicMs() + delayMs, reason });
    }
    if (code) this.#troubles.report(path, head, code, reason);
    this.#wakeIn(delayMs);
  }

  #wakeIn(delayMs: number): void {
    const { clock } = this.#context;
    const atMs = clock.monotonicMs() + delayMs;
    if (this.#stopped || (this.#wakeAtMs !== undefined && this.#wakeAtMs <= atMs)) return;
    this.#wake?.cancel();
    this.#wakeAtMs = atMs;
    this.#wake = clock.after(delayMs, () => {
      this.#wakeAtMs = undefined;
      this.poke();
    });
  }
}

function diskFullDetail(path: string): string {
  return `There is no room for ${path}. Free some space; it is tried again by itself.`;
}

/** Splits steps so that one call of `apply` never holds more bytes than `batchBytesMax`. */
function* inBatches(steps: readonly PlanStep[]): IterableIterator<readonly PlanStep[]> {
  let batch: PlanStep[] = [];
  let bytes = 0;
  for (const step of steps) {
    const { action } = step.request;
    const size = action.do === 'write' && action.size <= inlineBytesMax ? action.size : 0;
    if (batch.length > 0 && bytes + size > batchBytesMax) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(step);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}
