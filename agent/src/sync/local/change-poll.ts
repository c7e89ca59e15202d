import { type Operation, polledFilesPerSecond } from '@lockstep/shared';
import { HotFiles } from '../../core/hot-files.ts';
import type { PackedFiles } from '../../core/packed-files.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

const turnMs = 2_000;
/** So many files of a turn are hot ones at most: the others must have their turn too. */
const hotShare = 0.5;
/** How often mappings are listed, and how many times as long as that took it rests at least: a fifth of a percent of a processor. */
const mappedEveryMs = 3_000;
const mappedRestFactor = 500;

/**
 * Compares the times of files with their rows, some each second: a store through a mapping, or through a name of a hard link that lies
 * outside the folder, raises no event. Hot files have their turn every few seconds, all others one after another.
 */
export class ChangePoll {
  readonly #context: Context;
  readonly #isOpen: (path: string) => boolean;
  readonly #hot = new HotFiles();
  /** The path that the round over all files has reached. */
  #after: string | undefined;
  #mappedDueMs = 0;
  readonly #loop: TaskLoop;

  /** `isOpen`: the path waits for a look already. */
  constructor(context: Context, isOpen: (path: string) => boolean) {
    this.#context = context;
    this.#isOpen = isOpen;
    context.facts.made.on((operations) => this.#made(operations));
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#turn(),
      failed: (error) => context.log.error({ error: String(error) }, 'the poll for changes failed; it is tried again'),
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
    for (const { path, kind } of operations) {
      if (kind === 'put') this.#hot.changed(path, this.#context.clock.monotonicMs());
    }
  }

  async #turn(): Promise<void> {
    const { clock, folder } = this.#context;
    const sinceMs = clock.monotonicMs();
    if (sinceMs >= this.#mappedDueMs) {
      this.#hot.mapped(await folder.mapped());
      const tookMs = clock.monotonicMs() - sinceMs;
      this.#mappedDueMs = sinceMs + Math.max(mappedEveryMs, tookMs * mappedRestFactor);
    }
    const { journal } = this.#context;
    const most = (polledFilesPerSecond * turnMs) / 1_000;
    const hot = journal.filesAt(this.#hot.next(clock.monotonicMs(), most * hotShare));
    const limit = most - hot.paths.length;
    const others = journal.filesAfter(this.#after, limit);
    this.#after = others.paths.length < limit ? undefined : others.paths.at(-1);
    for (const files of [hot, others]) if (files.paths.length > 0) await this.#poll(files);
    this.#loop.in(turnMs);
  }

  async #poll(files: PackedFiles): Promise<void> {
    const { folder, ignored } = this.#context;
    const { changed, linked } = await folder.poll(files);
    if (this.#loop.isStopped) return;
    this.#hot.polled(files.paths, linked);
    for (const path of changed) {
      if (!ignored.ignores(path, false) && !this.#isOpen(path)) this.#context.facts.doubted.tell(path);
    }
  }
}
