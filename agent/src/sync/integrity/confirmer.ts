import {
  batchPathsMax,
  confirmBusyMsMax,
  confirmBytesPerSecond,
  confirmDelayMs,
  hashUnderLockBytesMax,
  type Operation,
} from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import { contentRead, type DiskEntry, isSameFingerprint, isSameRow, markedRacy } from '../../core/entry.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';

/** The cost of opening a file, as bytes: 4,000 small files per second. */
const fileCostBytes = 32_768;
/** Rests are accumulated until they are worth a timer. */
const restMsMin = 20;
const busyRetryMs = 100;
/** Files that could not be read, or change continuously, are tried again after this time. */
const retryMs = 5_000;

/** The result of reading files a second time. */
export interface ConfirmedFiles {
  /** Some files differ from their rows. A detection has been requested for them. */
  readonly hasDifferent: boolean;
  /** A file that was not read, because the caller gave up. */
  readonly open: string | undefined;
}

/** The caller of a second read, and its interest in it. */
interface ReadCaller {
  /** True once no one waits any more. */
  giveUp(): boolean;
  /** Called with the first path of files whose read begins. */
  begins?(path: string): void;
}

/** How files are read again: `pace` is called with the bytes about to be read, and `giveUp` before each block of a large file. */
interface ReadLimits {
  readonly pace?: (bytes: number) => Promise<void>;
  readonly giveUp?: () => boolean;
}

/** The result of reading files again: `unread` if the read of a large one was given up. */
type Reading = 'same' | 'different' | 'unread';

/**
 * Reads files again that may have changed without a trace since they were read: programs store into mapped pages, and only the first
 * store after a write-back changes the file's times. A file is certain once a read after a sync, which has made its pages clean, finds
 * it equal to its row. It reads outside the folder lock, at a bounded rate.
 */
export class Confirmer {
  readonly #context: Context;
  readonly #isBusy: () => boolean;
  readonly #loop: TaskLoop;
  #debtMs = 0;
  #busySinceMs: number | undefined;

  /** `isBusy` returns true while more urgent work is under way. */
  constructor(context: Context, isBusy: () => boolean) {
    this.#context = context;
    this.#isBusy = isBusy;
    context.facts.durable.on(() => this.poke());
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#pass(),
      delayMs: () => confirmDelayMs,
      failed: (error) => {
        context.log.error({ error: String(error) }, 'files could not be read a second time; this is retried');
      },
      retryMs,
    });
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Requests a pass: there may be files to confirm. */
  poke(): void {
    this.#loop.poke();
  }

  /**
   * Reads all unconfirmed files at and below `path` at once, regardless of other work. Only reads after the call
   * count. A file that is being read when the caller gives up is read no further.
   */
  async readNow(path: string, { giveUp, begins }: ReadCaller): Promise<ConfirmedFiles> {
    const { journal } = this.#context;
    let hasDifferent = false;
    const paths = journal.disk.unconfirmed(path);
    for (let index = 0; index < paths.length; index += batchPathsMax) {
      // A row that is gone was changed, or its file was read, after the call.
      const rows = paths.slice(index, index + batchPathsMax).flatMap((each) => journal.disk.at(each) ?? []);
      for (const batch of inBatches(rows.filter(({ unconfirmed }) => unconfirmed !== undefined))) {
        const [first] = batch;
        if (giveUp() || this.#loop.isStopped) return { hasDifferent, open: first?.path };
        if (first !== undefined) begins?.(first.path);
        const reading = await this.#check(batch, { giveUp });
        if (reading === 'unread') return { hasDifferent, open: first?.path };
        if (reading === 'different') hasDifferent = true;
      }
    }
    return { hasDifferent, open: undefined };
  }

  /** Reads the files of `clean` rows. */
  async #pass(): Promise<void> {
    const { journal } = this.#context;
    for (let after: string | undefined; !this.#loop.isStopped; ) {
      const page = journal.disk.clean(after, batchPathsMax);
      for (const batch of inBatches(page)) {
        await this.#untilIdle();
        if (this.#loop.isStopped) return;
        await this.#check(batch, { pace: (bytes) => this.#pace(bytes) });
      }
      after = page.at(-1)?.path;
      if (page.length < batchPathsMax) break;
    }
    if (journal.disk.clean(undefined, 1).length > 0) this.#loop.in(retryMs);
  }

  /** Compares files with their rows: `different` if any of them differs. */
  async #check(rows: readonly DiskEntry[], limits: ReadLimits): Promise<Reading> {
    const { folder, journal } = this.#context;
    const [first] = rows;
    const known = first && this.#operationOf(first);
    if (first !== undefined && known !== undefined) return await this.#checkLarge(first, known, limits);
    await limits.pace?.(rows.reduce((sum, { fingerprint }) => sum + fileCostBytes + (fingerprint?.size ?? 0), 0));
    const observations = await folder.observe(rows.map(({ path }) => ({ path, hashLarge: true, bytesMax: 0 })));
    const same: DiskEntry[] = [];
    let hasDifferent = false;
    for (const [index, row] of rows.entries()) {
      const seen = observations[index];
      if (seen === undefined || seen.state === 'problem' || seen.state === 'special') continue;
      const isSame = seen.state === 'file' && row.fingerprint && isSameFingerprint(seen.fingerprint, row.fingerprint);
      if (isSame && seen.content === contentRead(row)) {
        if (row.unconfirmed === 'clean' && !seen.racy) same.push(row);
        continue;
      }
      hasDifferent = true;
      if (isSame) this.#differs(row);
      else this.#context.facts.doubted.publish(row.path);
    }
    if (same.length > 0) journal.disk.confirmed(same);
    return hasDifferent ? 'different' : 'same';
  }

  /** The operation with the blocks of a large file. Undefined for damage, and if the operation was cut off a forked log: then it is read whole. */
  #operationOf(row: DiskEntry): Operation | undefined {
    if (!isLarge(row) || row.damaged || row.content === undefined) return undefined;
    const operation = this.#context.journal.log.operation(row.dot);
    return operation?.content === row.content ? operation : undefined;
  }

  /** As `#check`, for one large file, a block at a time, so that other jobs do not wait long for the worker. */
  async #checkLarge(
    row: DiskEntry,
    { content, blocks, size = 0 }: Operation,
    { pace, giveUp }: ReadLimits,
  ): Promise<Reading> {
    const { folder, journal } = this.#context;
    const { path, fingerprint } = row;
    if (content === undefined || fingerprint === undefined) return 'same';
    const source = { from: 'file', path, fingerprint } as const;
    for (let index = 0; index < blockCount(size); index++) {
      await pace?.(blockRange(size, index).length);
      if (this.#loop.isStopped || giveUp?.() === true) return 'unread';
      if (await folder.holdsBlock({ content, blocks, size, index, source })) continue;
      this.#differs(row);
      return 'different';
    }
    const [seen] = await folder.observe([{ path, expected: fingerprint }]);
    if (seen?.state === 'same') {
      if (row.unconfirmed === 'clean') journal.disk.confirmed([row]);
      return 'same';
    }
    this.#context.facts.doubted.publish(path);
    return 'different';
  }

  /** Requests a detection that reads the file: its bytes differ from the row, though the fingerprint may be the same. */
  #differs(before: DiskEntry): void {
    const { journal } = this.#context;
    const row = journal.disk.at(before.path);
    // A file that another read has confirmed meanwhile is damaged: the scrub finds that.
    if (isSameRow(row, before) && row.unconfirmed !== undefined && !row.racy)
      journal.disk.record([markedRacy(row, true)]);
    this.#context.facts.doubted.publish(before.path);
  }

  /** Rests for as long as reading this number of bytes may take. */
  async #pace(bytes: number): Promise<void> {
    this.#debtMs += (bytes / confirmBytesPerSecond) * 1_000;
    if (this.#debtMs < restMsMin) return;
    const restMs = this.#debtMs;
    this.#debtMs = 0;
    await this.#rest(restMs);
  }

  async #untilIdle(): Promise<void> {
    const { clock } = this.#context;
    while (!this.#loop.isStopped && this.#isBusy()) {
      this.#busySinceMs ??= clock.monotonicMs();
      // A folder that is always busy is read all the same.
      if (clock.monotonicMs() - this.#busySinceMs >= confirmBusyMsMax) return;
      await this.#rest(busyRetryMs);
    }
    this.#busySinceMs = undefined;
  }

  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#context.clock.after(ms, resolve);
    });
  }
}

/** Splits rows into batches that are read together: a large file alone, small ones up to `batchBytes`. */
function* inBatches(rows: readonly DiskEntry[]): IterableIterator<readonly DiskEntry[]> {
  let batch: DiskEntry[] = [];
  let bytes = 0;
  for (const row of rows) {
    if (isLarge(row)) {
      yield [row];
      continue;
    }
    const size = fileCostBytes + (row.fingerprint?.size ?? 0);
    if (batch.length > 0 && bytes + size > batchBytes) {
      yield batch;
      batch = [];
      bytes = 0;
    }
    batch.push(row);
    bytes += size;
  }
  if (batch.length > 0) yield batch;
}

/** Takes some milliseconds to read. */
const batchBytes = 4 * hashUnderLockBytesMax;

function isLarge({ fingerprint }: DiskEntry): boolean {
  return (fingerprint?.size ?? 0) > hashUnderLockBytesMax;
}
