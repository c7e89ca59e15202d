import type { ContentId } from '@lockstep/shared';
import {
  type HistorySize,
  historyFiles,
  historyInodesReserve,
  historyReserve,
  historyRoom,
} from '../../core/history/history-room.ts';
import type { DiskRoom, HistoryUse } from '../ports/folder.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

export type { HistorySize } from '../../core/history/history-room.ts';

const intervalMs = 60_000;
/** The start of a member has other work for its disk. */
const firstMs = 5_000;

/** The limits of the history. */
export interface RetentionLimits {
  readonly size: HistorySize | undefined;
  readonly filesMax: number;
  readonly ageMsMax: number;
}

/** The size of the history, and its limits now. */
export interface HistoryReport extends HistoryUse {
  readonly bytesMax: number;
  /** The time that a version is kept at most. */
  readonly ageMsMax: number;
}

/** Keeps `history/` within its limits. Content that a head still needs, or that is being put back, stays beyond them. */
export class Retention {
  readonly #context: Context;
  #limits: RetentionLimits;
  readonly #loop: TaskLoop;
  readonly #isHeld: (content: ContentId) => boolean;
  #bytesMax: number | undefined;

  /** `isHeld`: true for a content that is being put back. */
  constructor(context: Context, limits: RetentionLimits, isHeld: (content: ContentId) => boolean) {
    this.#isHeld = isHeld;
    this.#context = context;
    this.#limits = limits;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#trim(),
      failed: (error) => {
        context.log.warn({ error: String(error) }, 'old versions could not be removed; this is retried in a minute');
      },
      retryMs: intervalMs,
    });
  }

  start(): void {
    this.#loop.in(firstMs);
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Sets other limits; what is beyond them is removed at once. */
  limit(limits: Omit<RetentionLimits, 'filesMax'>): void {
    this.#limits = { ...this.#limits, ...limits };
    this.#loop.poke();
  }

  /** Undefined until history was counted for the first time. */
  report(): HistoryReport | undefined {
    const use = this.#context.folder.historyUse();
    if (use === undefined || this.#bytesMax === undefined) return undefined;
    return { ...use, bytesMax: this.#bytesMax, ageMsMax: this.#limits.ageMsMax };
  }

  /** The disk was measured: what it lacks is taken from history at once. */
  measured(room: DiskRoom | undefined): void {
    if (room === undefined) return;
    const { totalBytes, freeBytes, inodes } = room;
    const use = this.#context.folder.historyUse();
    const lacksInodes = inodes !== undefined && inodes.free < historyInodesReserve(inodes);
    const isShort = freeBytes < historyReserve(totalBytes) || lacksInodes;
    if (isShort && use !== undefined && use.versions > 0) this.#loop.poke();
  }

  /** The clock of this member and that of another one differ, and it is unknown which is right. */
  get #mayBeWrong(): boolean {
    return this.#context.problems.list().some(({ code }) => code === 'clock-skew');
  }

  async #trim(): Promise<void> {
    const { folder, journal } = this.#context;
    const { filesMax, size } = this.#limits;
    // With a clock that is set a year ahead every version would be too old.
    const ageMsMax = this.#mayBeWrong ? Number.POSITIVE_INFINITY : this.#limits.ageMsMax;
    const { ok, room } = await folder.health();
    if (ok && room !== undefined) {
      const { bytes, versions } = await folder.countHistory();
      this.#bytesMax = historyRoom({ ...room, historyBytes: bytes }, size);
      const limits = { bytesMax: this.#bytesMax, filesMax: historyFiles(filesMax, versions, room.inodes), ageMsMax };
      const isNeeded = (content: ContentId): boolean =>
        this.#isHeld(content) || journal.heads.withContent(content) !== undefined;
      await folder.trimHistory(limits, isNeeded);
    }
    this.#loop.in(intervalMs);
  }
}
