import type { ContentId, Operation, ProblemCode } from '@lockstep/shared';
import { batchBytesMax, dotKey, inlineBytesMax, isLive, parentOf } from '@lockstep/shared';
import { type DiskChange, isDirectoryMode } from '../../core/entry.ts';
import { holdsIgnoreRules } from '../../core/ignore/ignore-rules.ts';
import type { PlanStep } from '../../core/plan/plan-step.ts';
import type { Action, ActionResult } from '../ports/folder.ts';
import { applyActions } from '../state/apply-actions.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import type { BlockedPaths } from './blocked-paths.ts';
import { type FailedSteps, noteBatch, recordBatch } from './interrupted-batch.ts';

/** Number of failures to remove a directory without known entries after which it is kept. */
const keepDirectoryAfter = 3;
/** Above this number all are forgotten, which costs one more attempt each. */
const notWholeMax = 1_000;

/** The result of executing steps. `planAgain`: a directory must be moved in another way than planned. */
export interface StepsOutcome {
  readonly progress: boolean;
  readonly planAgain: boolean;
}

/** Executes the steps of plans in the folder, records the results and handles failures. */
export class StepExecutor {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #blocked: BlockedPaths;
  readonly #failedSteps: FailedSteps;
  /**
   * Renames that one rename(2) cannot do. A directory that holds entries unknown to the journal is moved entry by entry;
   * a rename to another disk is a new write.
   */
  readonly #notWhole = new Set<string>();

  constructor(
    context: Context,
    parts: {
      readonly transfers: ContentFetcher;
      readonly blocked: BlockedPaths;
      readonly failedSteps: FailedSteps;
    },
  ) {
    this.#context = context;
    this.#transfers = parts.transfers;
    this.#blocked = parts.blocked;
    this.#failedSteps = parts.failedSteps;
  }

  /** Whether one rename(2) may be tried for this rename. */
  movesWhole(rename: Operation): boolean {
    return !this.#notWhole.has(dotKey(rename));
  }

  /** Executes `steps` in order, in batches of bounded size. */
  async steps(steps: readonly PlanStep[]): Promise<StepsOutcome> {
    let progress = false;
    let planAgain = false;
    for (const batch of inBatches(steps)) {
      const leaving = batch.flatMap(({ path, becomesRemote }) => (becomesRemote ? [path] : []));
      const done = await this.#context.remoteNames.whileLeaving(leaving, () => this.#batch(batch));
      progress = done.progress || progress;
      planAgain = done.planAgain || planAgain;
    }
    return { progress, planAgain };
  }

  async #batch(steps: readonly PlanStep[]): Promise<StepsOutcome> {
    const { journal, receivedBytesCache } = this.#context;
    noteBatch(journal, steps, this.#failedSteps.noted);
    const results = await applyActions(
      this.#context,
      steps.map((step) => step.request),
    );
    const changes: DiskChange[] = [];
    // Of several writes of one staged content, the last takes the staged file. If that one fails, the staged file remains.
    const taken = new Set<ContentId>();
    let planAgain = false;
    let count = 0;
    let bytes = 0;
    for (const [index, step] of steps.entries()) {
      const result = results[index];
      if (result === undefined) continue;
      const { action } = step.request;
      if (result.result !== 'done') {
        if (action.do === 'write') taken.delete(action.content);
        planAgain = this.#failed(step, result) || planAgain;
        continue;
      }
      // The rename of a directory has more of them than a call can have arguments.
      for (const change of step.record(result.fingerprint, result.racy ?? false)) changes.push(change);
      count++;
      this.#blocked.over(step.path);
      if (action.do === 'write') {
        bytes += action.size;
        receivedBytesCache.delete(action.content);
        if (action.source.from === 'staged') taken.add(action.content);
        else this.#transfers.drop(action.content);
        if (action.source.from === 'file' || action.source.from === 'history')
          this.#context.facts.reused.publish(action.size);
      }
      if (action.do === 'mkdir') this.#context.facts.unscanned.publish(action.path);
      // A directory that was just moved here now matches its row, so that no detection would find it and request a scan.
      if (action.do === 'attr' && isDirectoryMode(action.expected.mode))
        this.#context.facts.unscanned.publish(action.path);
      if (action.do === 'rename-directory') this.#context.facts.unscanned.publish(action.to);
      if (holdsIgnoreRules(step.path)) this.#context.facts.rulesTouched.publish();
    }
    for (const content of taken) this.#transfers.applied(content);
    await recordBatch(this.#context, changes, this.#failedSteps.noted);
    await this.#failedSteps.record(steps.filter((_, index) => results[index]?.result === 'problem'));
    if (changes.length > 0) this.#context.facts.applied.publish({ entries: count, bytes });
    return { progress: changes.length > 0, planAgain };
  }

  /** Handles a failed step. True if the path must be planned again at once. */
  #failed(step: PlanStep, result: Exclude<ActionResult, { result: 'done' }>): boolean {
    const head = this.#context.journal.heads.at(step.path)[0];
    if (head === undefined) return false;
    switch (result.result) {
      case 'changed':
        return this.#foundChanged(step, head);
      case 'source-gone':
        this.#foundNoSource(step, head);
        return false;
      case 'problem':
        if (isRename(step) && mountCodes.has(result.code) && this.movesWhole(head)) {
          this.#moveOtherwise(head);
          return true;
        }
        this.#blocked.block(step.path, head, result.detail, result.code);
        return false;
    }
  }

  /** A user changed the entry before the step did: that edit is journaled first. */
  #foundChanged(step: PlanStep, head: Operation): boolean {
    const { action } = step.request;
    const planAgain = action.do === 'rename-directory' && this.movesWhole(head);
    const expected = 'expected' in action ? action.expected : undefined;
    const removes = typeof expected === 'object' && action.do !== 'attr' && isDirectoryMode(expected.mode);
    const isKept = (action.do === 'rmdir' || removes) && this.#isKeptDirectory(step.path);
    if (planAgain) this.#moveOtherwise(head);
    else if (isKept && isLive(head))
      this.#blocked.block(step.path, head, unknownInTheWay(step.path), 'path-in-the-way');
    else this.#blocked.block(step.path, head, 'its entry on this disk has changed, and that change is journaled first');
    this.#context.facts.doubted.publish(step.path);
    // The parent may be gone and its event lost.
    this.#context.facts.doubted.publish(parentOf(step.path));
    if (action.do === 'rename' || action.do === 'rename-directory') this.#context.facts.doubted.publish(action.from);
    if (isKept) this.#keepDirectory(step, head);
    return planAgain;
  }

  #foundNoSource(step: PlanStep, head: Operation): void {
    const { action } = step.request;
    if (action.do === 'write') {
      this.#context.receivedBytesCache.delete(action.content);
      this.#transfers.drop(action.content);
    }
    const source = fileReadBy(action);
    if (source !== undefined) {
      this.#context.facts.doubted.publish(source);
      this.#context.facts.suspected.publish(source);
    }
    this.#blocked.block(step.path, head, 'the local copy of its content has changed');
  }

  #moveOtherwise(rename: Operation): void {
    if (this.#notWhole.size >= notWholeMax) this.#notWhole.clear();
    this.#notWhole.add(dotKey(rename));
  }

  /** True for a directory that stays because of an entry that the journal does not know, such as a socket or an ignored file. */
  #isKeptDirectory(path: string): boolean {
    if (this.#blocked.attempts(path) < keepDirectoryAfter) return false;
    return this.#context.journal.disk.below(path, undefined, 1).length === 0;
  }

  /**
   * Keeps a directory that cannot be removed. If it was deleted, its row says so: the scan finds the directory as new and journals it again,
   * so that this member keeps its own entries. If another entry is to replace it, the row stays, and that entry waits.
   */
  #keepDirectory(step: PlanStep, head: Operation): void {
    const { origin, seq } = head;
    if (!isLive(head)) this.#context.journal.disk.record([{ path: step.path, entry: { dot: { origin, seq } } }]);
    this.#context.facts.unscanned.publish(step.path);
  }
}

function unknownInTheWay(path: string): string {
  return (
    `The directory ${path} contains entries that are not replicated, ignored ones for example: move them away. Then the entry that ` +
    `belongs at ${path} is put there.`
  );
}

/** Codes after which a rename becomes a new write: mount points, other disks and changed mounts rule out rename(2). */
const mountCodes: ReadonlySet<ProblemCode> = new Set(['path-in-the-way', 'mount-changed']);

/** The path of the file in the folder whose content the action reads, if there is one. */
function fileReadBy(action: Action): string | undefined {
  switch (action.do) {
    case 'write':
      return action.source.from === 'file' ? action.source.path : undefined;
    case 'attr':
      return action.path;
    case 'rename':
      return action.from;
    default:
      return undefined;
  }
}

function isRename({ request }: PlanStep): boolean {
  return request.action.do === 'rename' || request.action.do === 'rename-directory';
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
