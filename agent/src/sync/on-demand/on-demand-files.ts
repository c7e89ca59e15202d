import { blockBytes, type Operation } from '@lockstep/shared';
import { RecentMap } from '../../core/recent-map.ts';
import type { Cache } from '../cache/cache.ts';
import { Signal } from '../scheduling/signal.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import type { ContentSearch } from '../transfer/content-search.ts';
import { type Failure, type FetchedFile, FileArrival } from './file-arrival.ts';
import { FileStream } from './file-stream.ts';
import { type Prefetched, Prefetches } from './prefetches.ts';

/** The time for which the answer to a failed read is repeated; for lack of room, only while there is none. */
const failureLastsMs = 5_000;
const noRoomLastsMs = 1_000;
const rowsAtOnce = 1_000;

/** The most prefetched files that are remembered until they are read. */
const unreadMax = 10_000;

/** The contents on a member that fetches them on demand; counts of this run of the agent. */
export interface CacheReport {
  readonly usedBytes: number;
  readonly bytesMax: number;
  /** Files that are here, and files that are fetched when they are read. */
  readonly files: number;
  readonly remoteFiles: number;
  /** The reads of local files, and of remote ones. */
  readonly hits: number;
  readonly misses: number;
  readonly fetchedBytes: number;
  readonly droppedFiles: number;
  /** Files that were fetched before a reader asked for them, their bytes, and how many of them were read then. */
  readonly prefetchedFiles: number;
  readonly prefetchedBytes: number;
  readonly prefetchHits: number;
  readonly pins: readonly string[];
}

/** A read of a file: it was here, was here because it was prefetched and not read until now, or had to be fetched. */
export interface FileRead {
  readonly path: string;
  readonly found: 'here' | 'prefetched' | 'elsewhere';
}

/** The answer to a read that failed. */
interface LastFailure {
  readonly failure: Failure;
  readonly untilMs: number;
  /** True for one that lasts only while the cache has no room. */
  readonly isOfCache: boolean;
}

/** A file that stays on this disk. */
export interface HeldFile {
  release(): void;
}

/** The files of a member that fetches contents on demand: brings one to this disk when it is read. */
export class OnDemandFiles {
  readonly #context: Context;
  readonly #transfers: ContentFetcher;
  readonly #cache: Cache;
  readonly #search: Pick<ContentSearch, 'search'>;
  /** Readers of the same file share its fetch. */
  readonly #fetching = new Map<string, Promise<FetchedFile>>();
  readonly #failures = new Map<string, LastFailure>();
  readonly arrival: FileArrival;
  readonly #prefetches: Prefetches;
  /** Prefetched files that were not read since. */
  readonly #unread = new RecentMap<string, true>(unreadMax);
  /** A program has read a file. */
  readonly read = new Signal<FileRead>();
  /** No reader waits any more. */
  readonly idle = new Signal();
  #hits = 0;
  #misses = 0;
  #fetchedBytes = 0;
  #prefetchHits = 0;

  /** `reasonOf`: the reason why a path is not applied, if known. */
  constructor(
    context: Context,
    parts: {
      readonly transfers: ContentFetcher;
      readonly cache: Cache;
      readonly search: Pick<ContentSearch, 'search'>;
      readonly reasonOf: (path: string) => string | undefined;
    },
  ) {
    this.#context = context;
    context.facts.sessionOpened.on(() => this.#failures.clear());
    this.#transfers = parts.transfers;
    this.#cache = parts.cache;
    this.#search = parts.search;
    this.arrival = new FileArrival(context, parts);
    this.#prefetches = new Prefetches(context, { arrival: this.arrival, cache: this.#cache });
    this.#cache.dropper.dropped.on((path) => this.#unread.delete(path));
  }

  /** True for a file whose present version is on other members only. */
  isRemote(path: string): boolean {
    return this.#context.journal.disk.at(path)?.remote === true;
  }

  /** The bytes of a file's present version, while they come. `goesOn`: for a reader that had other parts of the file before. */
  stream(operation: Operation, { goesOn }: { readonly goesOn: boolean }): FileStream {
    return new FileStream(this.#context, { transfers: this.#transfers, files: this, goesOn }, operation);
  }

  /** A program begins to read the file at `path`. */
  used(path: string): void {
    if (!this.arrival.isHere(path)) return;
    this.#hits++;
    this.#cache.used(path);
    const isPrefetched = this.#unread.delete(path);
    if (isPrefetched) this.#prefetchHits++;
    this.read.publish({ path, found: isPrefetched ? 'prefetched' : 'here' });
  }

  /** The contents here, and how often they sufficed; undefined for a member that has the whole folder. */
  report(): CacheReport | undefined {
    const { self, journal, wanted } = this.#context;
    if (self.onDemand !== true) return undefined;
    const { files, disk } = journal.totals.counts();
    const { usedBytes, bytesMax } = this.#cache.room;
    return {
      usedBytes,
      bytesMax: Math.min(bytesMax, Number.MAX_SAFE_INTEGER),
      files: disk.files,
      remoteFiles: Math.max(0, files - disk.files),
      hits: this.#hits,
      misses: this.#misses,
      fetchedBytes: this.#fetchedBytes + this.#prefetches.bytes,
      droppedFiles: this.#cache.dropper.files,
      prefetchedFiles: this.#prefetches.files,
      prefetchedBytes: this.#prefetches.bytes,
      prefetchHits: this.#prefetchHits,
      pins: wanted.pins,
    };
  }

  /**
   * Brings the present version of the file at `path` to this disk for a reader, if it is not here. Resolves when it is, or when that cannot be:
   * no member that answers has the content, nothing came for eight seconds, or there is no room. `goesOn`: for a reader that had other parts of
   * the file before, and so is counted already if the file is coming.
   */
  fetch(path: string, { goesOn = false } = {}): Promise<FetchedFile> {
    const open = this.#fetching.get(path);
    if (open === undefined) return this.#shared(path, () => this.#fetchForReader(path));
    return goesOn ? open : this.#join(path, open);
  }

  /** As `fetch`, for a file that is to be here, and that no reader waits for. */
  bring(path: string): Promise<FetchedFile> {
    return this.#shared(path, () => this.#takeOrFetch(path));
  }

  /** Brings a remote file to this disk that no reader asked for, if there is free room for it. */
  async prefetch(path: string): Promise<Prefetched> {
    if (this.#fetching.has(path)) return 'taken';
    const prefetched = await this.#prefetches.begin(path);
    if (prefetched === 'here') this.#unread.set(path, true);
    return prefetched;
  }

  #shared(path: string, begin: () => Promise<FetchedFile>): Promise<FetchedFile> {
    const open = this.#fetching.get(path);
    if (open !== undefined) return open;
    if (this.arrival.isHere(path)) return Promise.resolve({ isHere: true });
    const fetching = begin().finally(() => this.#fetching.delete(path));
    this.#fetching.set(path, fetching);
    return fetching;
  }

  /** One more reader waits for a file that is being fetched: that is a read of its own. */
  async #join(path: string, open: Promise<FetchedFile>): Promise<FetchedFile> {
    this.#misses++;
    const fetched = await open;
    if (fetched.isHere) this.read.publish({ path, found: 'elsewhere' });
    return fetched;
  }

  async #fetchForReader(path: string): Promise<FetchedFile> {
    const { wanted } = this.#context;
    const failed = this.#lastFailure(path);
    if (failed !== undefined) return failed;
    this.#misses++;
    // All of a small file that is being prefetched was requested already. Later prefetches come after it.
    if (this.#sizeOf(path) <= blockBytes && (await this.#takePrefetch(path))) {
      this.read.publish({ path, found: 'elsewhere' });
      return { isHere: true };
    }
    wanted.waitingReaders++;
    try {
      const fetched = await this.#takeOrFetch(path);
      if (fetched.isHere) this.read.publish({ path, found: 'elsewhere' });
      return fetched;
    } finally {
      wanted.waitingReaders--;
      if (wanted.waitingReaders === 0) this.#resumePrefetches();
    }
  }

  async #takeOrFetch(path: string): Promise<FetchedFile> {
    return (await this.#takePrefetch(path)) ? { isHere: true } : this.#fetch(path);
  }

  #sizeOf(path: string): number {
    return this.arrival.head(path)?.size ?? 0;
  }

  /** Waits for the prefetch of the file, if one is under way. Resolves with whether the file is here then. */
  async #takePrefetch(path: string): Promise<boolean> {
    const size = this.#sizeOf(path);
    const taken = this.#prefetches.take(path);
    // Its next block is not held back any more.
    this.#transfers.exchange.pump();
    if (!(await taken)) return false;
    this.#fetchedBytes += size;
    return true;
  }

  async #fetch(path: string): Promise<FetchedFile> {
    const { clock, wanted } = this.#context;
    const failed = this.#lastFailure(path);
    if (failed !== undefined) return failed;
    const size = this.#sizeOf(path);
    const reserved = await this.#cache.reserve(path, size);
    if ('reason' in reserved) {
      // With room there would be no content either.
      if (size <= this.#cache.room.bytesMax && !(await this.#isElsewhere(path))) {
        return this.#failed(path, this.arrival.unreachable(path), failureLastsMs);
      }
      return this.#failed(path, { isHere: false, code: 'disk-full', reason: reserved.reason }, noRoomLastsMs, true);
    }
    // The row stays remote until the file is here: for its users the file is there all the time.
    const release = wanted.demand(path);
    const startedMs = clock.monotonicMs();
    const dropped = this.#cache.dropper.files;
    try {
      let failure = await this.arrival.untilHere(path);
      const isShort = failure?.code === 'disk-full';
      if (isShort && (await this.#cache.regainRoom(dropped))) failure = await this.arrival.untilHere(path);
      // The disk may have room again at any time, and its room is known each second.
      const lastsMs = failure?.code === 'disk-full' ? noRoomLastsMs : failureLastsMs;
      if (failure !== undefined) return this.#failed(path, failure, lastsMs);
      this.#cache.fetched(path, clock.monotonicMs() - startedMs);
      this.#fetchedBytes += size;
      return { isHere: true };
    } finally {
      release();
      reserved.end();
    }
  }

  /** Whether a member that answers has the content of a file. */
  async #isElsewhere(path: string): Promise<boolean> {
    const content = this.arrival.head(path)?.content;
    if (content === undefined) return true;
    const { holders } = await this.#search.search([{ content, path }]);
    return holders.has(content);
  }

  #resumePrefetches(): void {
    this.#transfers.exchange.pump();
    this.idle.publish();
  }

  #failed(path: string, failure: Failure, lastsMs: number, isOfCache = false): Failure {
    this.#failures.set(path, { failure, untilMs: this.#context.clock.monotonicMs() + lastsMs, isOfCache });
    return failure;
  }

  /** The kernel repeats a read that failed several times: it gets the same answer, unless a member came or there is room now. */
  #lastFailure(path: string): Failure | undefined {
    const last = this.#failures.get(path);
    if (last === undefined) return undefined;
    const isOver = last.isOfCache && this.#cache.room.hasRoom(this.#sizeOf(path));
    if (this.#context.clock.monotonicMs() < last.untilMs && !isOver) return last.failure;
    this.#failures.delete(path);
    return undefined;
  }

  /** As `fetch`, and the file stays here until `release` is called. */
  async hold(path: string): Promise<HeldFile | Failure> {
    const release = this.#context.wanted.demand(path);
    const fetched = await this.fetch(path);
    if (fetched.isHere) return { release };
    release();
    return fetched;
  }
}

/** Makes all missing files pending: this member has the whole folder from now on. */
export function wantAll({ journal }: Context): void {
  for (;;) {
    const rows = journal.disk.remoteBelow('', undefined, rowsAtOnce);
    if (rows.length === 0) return;
    journal.disk.record(rows.map(({ path }) => ({ path, entry: undefined })));
  }
}
