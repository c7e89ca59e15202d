import { blockBytes, scrubBytesPerSecondMax, scrubBytesPerSecondMin } from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import type { DiskEntry } from '../../core/entry.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';
import { writeIfRoom } from '../state/disk-room.ts';
import type { Damage } from './damage.ts';

const setting = 'scrub';
/** The first pass begins this long after the start, or after a tenth of the interval: a starting member has more urgent work. */
const startDelayMs = 600_000;
/** Interval at which the position is saved: after a restart that much is read twice. */
const saveIntervalMs = 600_000;
const busyRetryMs = 1_000;
/** Node timers are limited to 24 days. */
const restMsMax = 86_400_000;
const retryMs = 60_000;
/** Rests are accumulated until they are worth a timer. */
const restMsMin = 50;
const pageRows = 64;
/** The cost of opening a file, as bytes. */
const fileCostBytes = 4_096;
/** Planned share of its interval that a pass takes. For the rest of it, it may wait for a busy folder. */
const shareOfInterval = 0.8;

/** The position of a pass. Times are wall clock, so that they are valid after a restart. */
interface Position {
  readonly startedAtMs: number;
  /** The last path that was read; undefined when the pass has ended, or has not begun. */
  readonly after: string | undefined;
  /** For how long it waited for a busy folder. */
  readonly waitedMs: number;
  readonly finishedAtMs: number | undefined;
}

/**
 * Reads all files of the folder once in each interval, a block at a time with rests in between. Files that differ from their content id are
 * checked for damage. It waits while the folder is busy, but not longer than lets it end in time: some folders always are.
 */
export class Scrub {
  readonly #context: Context;
  readonly #damage: Damage;
  #intervalMs: number;
  readonly #isBusy: () => boolean;
  #debtMs = 0;
  #savedMs = 0;
  #now = beginning(0);
  readonly #loop: TaskLoop;

  constructor(
    context: Context,
    damage: Damage,
    options: { readonly intervalMs: number; readonly isBusy: () => boolean },
  ) {
    this.#context = context;
    this.#damage = damage;
    this.#intervalMs = options.intervalMs;
    this.#isBusy = options.isBusy;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#passIfDue(),
      failed: (error) => context.log.error({ error: String(error) }, 'the scrub failed; it continues in a minute'),
      retryMs,
    });
  }

  start(): void {
    this.#loop.in(Math.min(startDelayMs, this.#intervalMs / 10));
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Sets another interval. The next pass begins when it is due by that; one under way goes on at its pace. */
  every(intervalMs: number): void {
    if (intervalMs === this.#intervalMs) return;
    this.#intervalMs = intervalMs;
    this.#loop.poke();
  }

  async #passIfDue(): Promise<void> {
    const position = this.#position();
    const wallMs = this.#context.clock.wallMs();
    const isDone = position?.finishedAtMs !== undefined;
    // A clock that was set back must not delay the next pass.
    const dueMs = isDone && position.startedAtMs <= wallMs ? position.startedAtMs + this.#intervalMs - wallMs : 0;
    if (dueMs <= 0) {
      const isNext = isDone || position === undefined;
      // Earlier versions did not write for how long they waited.
      this.#now = isNext ? beginning(wallMs) : { ...beginning(position.startedAtMs), ...position };
      await this.#pass();
    }
    this.#loop.in(Math.min(Math.max(0, dueMs), restMsMax));
  }

  async #pass(): Promise<void> {
    const { journal, clock } = this.#context;
    this.#savedMs = clock.monotonicMs();
    while (!this.#loop.isStopped) {
      const rows = journal.disk.below('', this.#now.after, pageRows);
      for (const row of rows) {
        await this.#read(row);
        if (this.#loop.isStopped) return;
        this.#now = { ...this.#now, after: row.path };
        this.#saveIfDue();
      }
      if (rows.length === pageRows) continue;
      this.#now = { ...this.#now, after: undefined, finishedAtMs: clock.wallMs() };
      this.#save();
      return;
    }
  }

  async #read(row: DiskEntry): Promise<void> {
    const { path, content, fingerprint } = row;
    // A row that is not certain proves nothing, and its file is read again soon.
    if (content === undefined || fingerprint === undefined || row.racy || row.unconfirmed) return;
    const operation = this.#context.journal.log.operation(row.dot);
    if (operation?.content !== content) return;
    const { blocks, size = 0 } = operation;
    const source = { from: 'file', path, fingerprint } as const;
    for (let index = 0; index < blockCount(size); index++) {
      await this.#pace(index === 0 ? fileCostBytes + Math.min(size, blockBytes) : blockRange(size, index).length);
      if (this.#loop.isStopped) return;
      if (await this.#context.folder.holdsBlock({ content, blocks, size, index, source })) continue;
      await this.#damage.check(path);
      return;
    }
  }

  /** Rests for as long as reading this number of bytes may take. */
  async #pace(bytes: number): Promise<void> {
    const counts = this.#context.journal.totals.counts();
    const seconds = (this.#intervalMs * shareOfInterval) / 1_000;
    const planned = (counts.bytes + counts.files * fileCostBytes) / seconds;
    const rate = Math.min(scrubBytesPerSecondMax, Math.max(scrubBytesPerSecondMin, planned));
    this.#debtMs += (bytes / rate) * 1_000;
    if (this.#debtMs >= restMsMin) {
      const restMs = this.#debtMs;
      this.#debtMs = 0;
      await this.#rest(restMs);
    }
    const waitMsMax = (1 - shareOfInterval) * this.#intervalMs;
    while (this.#now.waitedMs < waitMsMax && this.#isBusy() && !this.#loop.isStopped) {
      await this.#rest(busyRetryMs);
      this.#now = { ...this.#now, waitedMs: this.#now.waitedMs + busyRetryMs };
      this.#saveIfDue();
    }
  }

  #position(): Position | undefined {
    const text = this.#context.journal.settings.get(setting);
    return text === undefined ? undefined : (JSON.parse(text) as Position);
  }

  #saveIfDue(): void {
    if (this.#context.clock.monotonicMs() - this.#savedMs >= saveIntervalMs) this.#save();
  }

  #save(): void {
    this.#savedMs = this.#context.clock.monotonicMs();
    writeIfRoom(() => this.#context.journal.settings.set(setting, JSON.stringify(this.#now)));
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#context.clock.after(Math.min(ms, restMsMax), resolve);
    });
  }
}

/** The position of a pass that begins. */
function beginning(startedAtMs: number): Position {
  return { startedAtMs, after: undefined, waitedMs: 0, finishedAtMs: undefined };
}
