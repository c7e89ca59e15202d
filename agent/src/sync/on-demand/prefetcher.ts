import { parentOf } from '@lockstep/shared';
import { type PrefetchCandidate, PrefetchWindow } from '../../core/cache/prefetch-window.ts';
import { ReadTogether } from '../../core/cache/read-together.ts';
import type { Cache } from '../cache/cache.ts';
import { TaskLoop } from '../scheduling/task-loop.ts';
import type { Context } from '../state/context.ts';
import type { FileRead, OnDemandFiles } from './on-demand-files.ts';
import type { UseRecord } from './use-record.ts';

/** The number of files that are prefetched at a time. More of them may share a round trip if they are small. */
const prefetchesMax = 4;
const smallPrefetchesMax = 32;
/** Files count as small if they arrive together within this time, or have at most these bytes. */
const smallMsMax = 25;
const smallBytesMax = 131_072;
/** The bytes in flight when a reader asks must arrive within this time, except for the few that are always allowed. */
const delayMsMax = 200;
/** The bytes that may be in flight over any line: the last fetches seem slow if a machine is busy for a moment. */
const guessBytesMin = 262_144;
/** The most bytes of one file in flight: its blocks come one by one. */
const blockBytesMax = 1_048_576;
/** Rows of a directory that are considered after a read. A directory full of large files is not searched to its end. */
const rowsMax = 256;
/** The number of paths that are considered before other tasks run. */
const stepsMax = 500;
const afterFailureMs = 10_000;

/**
 * Fetches files before they are read: those that were read together with a file before, and its neighbours in the directory. After a start,
 * and when there is more room, it also fetches those that were used last. It begins only while no reader waits, and uses only free room.
 */
export class Prefetcher {
  readonly #context: Context;
  readonly #files: OnDemandFiles;
  readonly #cache: Cache;
  readonly #uses: UseRecord;
  readonly #window = new PrefetchWindow();
  readonly #together = new ReadTogether();
  readonly #loop: TaskLoop;
  #isEnabled = false;
  /** The expected next reads, the most promising last. */
  #guesses: PrefetchCandidate[] = [];
  /** The paths that were used last, the newest last. */
  #used: string[] = [];
  /** The bytes in flight, by path: a reader may have to wait for them. */
  readonly #open = new Map<string, number>();
  /** Files could not be fetched: a member that comes may have them. */
  #hasFailed = false;

  constructor(
    context: Context,
    parts: { readonly files: OnDemandFiles; readonly cache: Cache; readonly uses: UseRecord },
  ) {
    this.#context = context;
    this.#files = parts.files;
    this.#cache = parts.cache;
    this.#uses = parts.uses;
    this.#loop = new TaskLoop({
      clock: context.clock,
      run: () => this.#run(),
      failed: (error) => context.log.warn({ error: String(error) }, 'prefetching failed; it is retried'),
      retryMs: afterFailureMs,
    });
    this.#files.read.on((read) => this.#follow(read));
    this.#files.idle.on(() => this.#loop.poke());
    this.#cache.dropper.dropped.on((path) => this.#window.forget(path));
    this.#cache.room.raised.on(() => this.refill());
    context.facts.sessionOpened.on(() => {
      if (this.#hasFailed) this.refill();
    });
  }

  stop(): void {
    this.#loop.stop();
  }

  /** Starts or stops prefetching. */
  enable(isEnabled: boolean): void {
    this.#isEnabled = isEnabled;
    if (isEnabled) return;
    this.#guesses = [];
    this.#used = [];
  }

  /** Fetches the missing files among those used last, as far as there is free room. */
  refill(): void {
    if (!this.#isEnabled) return;
    this.#hasFailed = false;
    this.#used = [...this.#uses.newestFirst()].reverse();
    this.#loop.poke();
  }

  #follow({ path, found }: FileRead): void {
    this.#together.read(path, this.#context.clock.monotonicMs());
    if (found === 'elsewhere') this.#window.forget(path);
    const isGuessRight = this.#window.read(path);
    if (!this.#isEnabled || (found === 'here' && !isGuessRight)) return;
    // The last read is the best predictor of the next one. The guesses from earlier reads are dropped.
    this.#guesses = [
      ...this.#window.choose(parentOf(path), this.#candidates(path), this.#cache.room.bytesMax),
    ].reverse();
    this.#loop.poke();
  }

  /** The remote files that may be read after the one at `path`, the most promising first. */
  *#candidates(path: string): IterableIterator<PrefetchCandidate> {
    const { journal } = this.#context;
    for (const other of this.#together.after(path)) yield* this.#remote(other);
    const directory = parentOf(path);
    for (const row of journal.disk.remoteChildren(directory, path, rowsMax)) yield* this.#remote(row.path);
    for (const row of journal.disk.remoteChildren(directory, undefined, rowsMax)) {
      if (row.path >= path) return;
      yield* this.#remote(row.path);
    }
  }

  *#remote(path: string): IterableIterator<PrefetchCandidate> {
    if (this.#files.isRemote(path) && !this.#open.has(path)) yield { path, size: this.#sizeOf(path) };
  }

  #sizeOf(path: string): number {
    return this.#files.arrival.head(path)?.size ?? 0;
  }

  #run(): void {
    for (let steps = 0; this.#mayBegin(); steps++) {
      // Not all rows of a long list are read at once.
      if (steps === stepsMax) {
        this.#loop.in(0);
        return;
      }
      const guess = this.#guesses.at(-1);
      const path = guess?.path ?? this.#used.at(-1);
      if (path === undefined) return;
      const size = this.#sizeOf(path);
      const isWanted = this.#files.isRemote(path) && size > 0 && !this.#open.has(path);
      const bytes = Math.min(size, blockBytesMax);
      const fits = isWanted && this.#comesSoon(bytes, guess !== undefined);
      if (fits === 'later') return;
      (guess === undefined ? this.#used : this.#guesses).pop();
      if (fits === true) this.#begin({ path, size }, bytes, guess !== undefined);
    }
  }

  #mayBegin(): boolean {
    const isFree = this.#context.wanted.waitingReaders === 0 && this.#open.size < smallPrefetchesMax;
    return this.#isEnabled && !this.#loop.isStopped && isFree;
  }

  /**
   * True if `bytes` more may be in flight now, although a reader may have to wait for them; 'later' if other bytes must arrive first. Files
   * that were used come back over slow lines too, one block at a time.
   */
  #comesSoon(bytes: number, isGuess: boolean): boolean | 'later' {
    const bytesMax = this.#files.arrival.rate.bytesWithin(delayMsMax);
    const openBytes = [...this.#open.values()].reduce((sum, open) => sum + open, 0);
    // The first file shows the rate of the line.
    if (bytesMax === undefined) return openBytes === 0 || 'later';
    const most = Math.max(bytesMax, isGuess ? guessBytesMin : blockBytesMax);
    if (bytes > most) return false;
    const small = Math.max(smallBytesMax, this.#files.arrival.rate.bytesWithin(smallMsMax) ?? 0);
    return openBytes + bytes <= (this.#open.size < prefetchesMax ? most : Math.min(most, small)) || 'later';
  }

  #came(candidate: PrefetchCandidate, isGuess: boolean): void {
    this.#cache.prefetched(candidate.path, !isGuess);
    if (isGuess) this.#window.prefetched(candidate);
  }

  /** A member that comes may have the rest. */
  #giveUp(): void {
    this.#hasFailed = true;
    this.#guesses = [];
    this.#used = [];
  }

  #begin(candidate: PrefetchCandidate, bytes: number, isGuess: boolean): void {
    const { path } = candidate;
    this.#open.set(path, bytes);
    this.#files
      .prefetch(path)
      .then((end) => {
        if (end === 'here') this.#came(candidate, isGuess);
        // There is no room for the rest of them, or no member that has them.
        if (end === 'no-room' && isGuess) this.#guesses = [];
        if (end === 'failed') this.#giveUp();
      })
      .catch((error: unknown) => this.#context.log.warn({ error: String(error) }, 'a file could not be prefetched'))
      .finally(() => {
        this.#open.delete(path);
        this.#loop.poke();
      });
  }
}
