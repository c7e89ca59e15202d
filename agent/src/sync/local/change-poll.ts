import { type Operation, polledFilesPerSecond } from '@lockstep/shared';
import { HotFiles } from '../../core/detection/hot-files.ts';
import type { PackedFiles } from '../../core/packed-files.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

const turnMs = 2_000;
const filesPerTurn = (polledFilesPerSecond * turnMs) / 1_000;
/** As `turnMs`, if a turn has all files and nothing was changed here for `restAfterMs`. The poll is a third of what an agent costs at rest. */
const restTurnMs = 5_000;
const restAfterMs = 60_000;
/** Largest share of hot files in a turn: the others must have their turn too. */
const hotShare = 0.5;
/** Interval at which mappings are listed, and the shortest rest as a multiple of the time it took: 0.2 % of a processor. */
const mappedEveryMs = 3_000;
const mappedRestFactor = 500;

/**
 * Polls files for changes that raise no event: stores through a mapping, and through a name of a hard link outside the folder. It
 * compares the times of some files with their rows at each turn: hot files every few seconds, the others in rotation.
 */
export class ChangePoll {
  readonly #context: Context;
  readonly #isOpen: (path: string) => boolean;
  readonly #hot = new HotFiles();
  /** The path that the rotation over all files has reached. */
  #after: string | undefined;
  #mappedDueMs = 0;
  /** When the last change was made here. */
  #madeAtMs = Number.NEGATIVE_INFINITY;
  readonly #loop: TaskLoop;

  /** `isOpen`: the path already waits for a detection. */
  constructor(context: Context, isOpen: (path: string) => boolean) {
    this.#context = context;
    this.#isOpen = isOpen;
    context.facts.made.on((operations) => this.#made(operations));
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#turn(),
      failed: (error) => context.log.error({ error: String(error) }, 'the poll for changes failed; it is retried'),
      retryMs: turnMs,
    });
  }

  start(): void {
    this.#loop.in(turnMs);
  }

  stop(): void {
    this.#loop.stop();
  }

  #made(operations: readonly Operation[]): void {
    this.#madeAtMs = this.#context.clock.monotonicMs();
    for (const { path, kind } of operations) {
      if (kind === 'put') this.#hot.changed(path, this.#madeAtMs);
    }
  }

  async #turn(): Promise<void> {
    const { journal, clock } = this.#context;
    // A turn that has all files has the hot ones.
    const hasAll = journal.totals.counts().disk.files <= filesPerTurn;
    if (hasAll) await this.#poll(journal.fingerprints.after(undefined, filesPerTurn));
    else await this.#pollSome();
    const isAtRest = hasAll && clock.monotonicMs() - this.#madeAtMs >= restAfterMs;
    this.#loop.in(isAtRest ? restTurnMs : turnMs);
  }

  async #pollSome(): Promise<void> {
    const { clock, journal } = this.#context;
    await this.#listMapped();
    const hot = journal.fingerprints.at(this.#hot.next(clock.monotonicMs(), filesPerTurn * hotShare));
    const limit = filesPerTurn - hot.paths.length;
    const others = journal.fingerprints.after(this.#after, limit);
    this.#after = others.paths.length < limit ? undefined : others.paths.at(-1);
    for (const files of [hot, others]) await this.#poll(files);
  }

  async #listMapped(): Promise<void> {
    const { clock, folder } = this.#context;
    const sinceMs = clock.monotonicMs();
    if (sinceMs < this.#mappedDueMs) return;
    this.#hot.mapped(await folder.mapped());
    const tookMs = clock.monotonicMs() - sinceMs;
    this.#mappedDueMs = sinceMs + Math.max(mappedEveryMs, tookMs * mappedRestFactor);
  }

  async #poll(files: PackedFiles): Promise<void> {
    if (files.paths.length === 0) return;
    const { folder, ignored } = this.#context;
    const { changed, linked } = await folder.poll(files);
    if (this.#loop.isStopped) return;
    this.#hot.polled(files.paths, linked);
    for (const path of changed) {
      if (!ignored.ignores(path, false) && !this.#isOpen(path)) this.#context.facts.doubted.publish(path);
    }
  }
}
