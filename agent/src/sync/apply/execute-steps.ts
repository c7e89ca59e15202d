import type { ContentId, Operation, ProblemCode } from '@lockstep/shared';
import { batchBytesMax, dotKey, inlineBytesMax, isLive, parentOf } from '@lockstep/shared';
import { type DiskChange, isDirectoryMode } from '../../core/entry.ts';
import { holdsIgnoreRules } from '../../core/ignore/ignore-rules.ts';
import type { PlanStep } from '../../core/plan/plan-step.ts';
import type { ActionResult } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import type { BlockedPaths } from './blocked-paths.ts';
import { noteBatch, recordBatch } from './interrupted-batch.ts';

/** Failures to remove a directory that is empty as far as the journal knows, before it is kept. */
const keepDirectoryAfter = 3;
/** Forgetting them costs one more attempt each. */
const notWholeMax = 1_000;

/** What came of some steps. `planAgain`: a directory is to be moved otherwise than was planned. */
export interface StepsOutcome {
  readonly progress: boolean;
  readonly planAgain: boolean;
}

/** Carries out the steps of plans in the folder, records what they did, and sees to what went otherwise. */
export class StepExecutor {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #parked: BlockedPaths;
  /**
   * Renames that one rename(2) cannot do. The entries of directories that hold more than the journal knows are moved one by one, and what
   * is on another disk is written anew.
   */
  readonly #notWhole = new Set<string>();

  constructor(context: Context, transfers: ContentFetcher, parked: BlockedPaths) {
    this.#context = context;
    this.#transfers = transfers;
    this.#parked = parked;
  }

  /** Whether this rename may be tried by one rename(2). */
  movesWhole(rename: Operation): boolean {
    return !this.#notWhole.has(dotKey(rename));
  }

  async steps(steps: readonly PlanStep[]): Promise<StepsOutcome> {
    let progress = false;
    let planAgain = false;
    for (const batch of inBatches(steps)) {
      const done = await this.#batch(batch);
      progress = done.progress || progress;
      planAgain = done.planAgain || planAgain;
    }
    return { progress, planAgain };
  }

  async #batch(steps: readonly PlanStep[]): Promise<StepsOutcome> {
    const { journal, folder, inbox } = this.#context;
    noteBatch(journal, steps);
    const results = await folder.apply(steps.map((step) => step.request));
    const changes: DiskChange[] = [];
    // Of several writes of one staged content the last takes its file. Where that one fails the file is left over.
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
      changes.push(...step.record(result.fingerprint, result.racy ?? false));
      count++;
      this.#parked.over(step.path);
      if (action.do === 'write') {
        bytes += action.size;
        inbox.delete(action.content);
        if (action.source.from === 'staged') taken.add(action.content);
        else this.#transfers.drop(action.content);
      }
      if (action.do === 'mkdir') this.#context.facts.unscanned.tell(action.path);
      // One that was just moved here is as its row says from now on: the look at it finds no difference, and asks for no scan.
      if (action.do === 'attr' && isDirectoryMode(action.expected.mode))
        this.#context.facts.unscanned.tell(action.path);
      if (action.do === 'rename-directory') this.#context.facts.unscanned.tell(action.to);
      if (holdsIgnoreRules(step.path)) this.#context.facts.rulesTouched.tell();
    }
    for (const content of taken) this.#transfers.applied(content);
    recordBatch(journal, changes);
    if (changes.length > 0) this.#context.facts.applied.tell({ entries: count, bytes });
    return { progress: changes.length > 0, planAgain };
  }

  /** True when the path is to be planned again at once. */
  #failed(step: PlanStep, result: Exclude<ActionResult, { result: 'done' }>): boolean {
    const head = this.#context.journal.heads(step.path)[0];
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
        this.#parked.park(step.path, head, result.detail, result.code);
        return false;
    }
  }

  /** Somebody changed what we were about to change: their edit is journaled first. */
  #foundChanged(step: PlanStep, head: Operation): boolean {
    const { action } = step.request;
    const planAgain = action.do === 'rename-directory' && this.movesWhole(head);
    if (planAgain) this.#moveOtherwise(head);
    else this.#parked.park(step.path, head, 'what stands there has changed and is looked at first');
    this.#context.facts.doubted.tell(step.path);
    // It may be the parent that is gone, and the event of that was lost.
    this.#context.facts.doubted.tell(parentOf(step.path));
    if (action.do === 'rename' || action.do === 'rename-directory') this.#context.facts.doubted.tell(action.from);
    const expected = 'expected' in action ? action.expected : undefined;
    const removes = typeof expected === 'object' && action.do !== 'attr' && isDirectoryMode(expected.mode);
    if (action.do === 'rmdir' || removes) this.#keepDirectory(step, head);
    return planAgain;
  }

  #foundNoSource(step: PlanStep, head: Operation): void {
    const { action } = step.request;
    if (action.do === 'write') {
      this.#context.inbox.delete(action.content);
      this.#transfers.drop(action.content);
      if (action.source.from === 'file') {
        this.#context.facts.doubted.tell(action.source.path);
        this.#context.facts.suspected.tell(action.source.path);
      }
    }
    this.#parked.park(step.path, head, 'the local copy of its content has changed');
  }

  #moveOtherwise(rename: Operation): void {
    if (this.#notWhole.size >= notWholeMax) this.#notWhole.clear();
    this.#notWhole.add(dotKey(rename));
  }

  /**
   * Something that the journal does not know keeps a directory that should go: a socket, an ignored file. The row is forgotten, so
   * that the directory is found as new here, and raises the directory again: what is this member's own business stays.
   */
  #keepDirectory(step: PlanStep, head: Operation): void {
    const { journal } = this.#context;
    if (this.#parked.attempts(step.path) < keepDirectoryAfter) return;
    if (journal.diskBelow(step.path, undefined, 1).length > 0) return;
    const { origin, seq } = head;
    // A file that must go there stays pending: the directory may be gone before it is found.
    journal.recordDisk([{ path: step.path, entry: isLive(head) ? undefined : { dot: { origin, seq } } }]);
    this.#context.facts.unscanned.tell(step.path);
  }
}

/** A mount point cannot be renamed, nothing is renamed to another disk, and nothing that a disk hides which is not what it was. */
const mountCodes: ReadonlySet<ProblemCode> = new Set(['path-in-the-way', 'mount-changed']);

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
