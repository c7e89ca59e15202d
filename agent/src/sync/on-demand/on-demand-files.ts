import { isLive, type Operation, type ProblemCode } from '@lockstep/shared';
import { remoteEntry } from '../../core/entry.ts';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import type { Cache } from './cache.ts';
import { FileStream } from './file-stream.ts';

/** A reader waits no longer than this for a content of which no byte arrives. */
const progressMsMax = 8_000;
const checkMs = 1_000;
const rowsAtOnce = 1_000;

/** The file is on this disk, or why it is not. */
export type FetchedFile =
  | { readonly isHere: true }
  | { readonly isHere: false; readonly code: ProblemCode; readonly reason: string };

/** The contents on a member that fetches them on demand; counts of this run of the agent. */
export interface CacheReport {
  readonly usedBytes: number;
  readonly bytesMax: number;
  /** Files that are here, and files that are fetched when they are read. */
  readonly files: number;
  readonly remoteFiles: number;
  /** Reads of either. */
  readonly hits: number;
  readonly misses: number;
  readonly fetchedBytes: number;
  readonly droppedFiles: number;
  readonly pins: readonly string[];
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
  /** Readers of the same file share its fetch. */
  readonly #fetching = new Map<string, Promise<FetchedFile>>();
  #hits = 0;
  #misses = 0;
  #fetchedBytes = 0;

  constructor(context: Context, parts: { readonly transfers: ContentFetcher; readonly cache: Cache }) {
    this.#context = context;
    this.#transfers = parts.transfers;
    this.#cache = parts.cache;
  }

  /** True for a file whose present version is on other members only. */
  isRemote(path: string): boolean {
    return this.#context.journal.disk(path)?.remote === true;
  }

  /** The bytes of a file's present version, while they come. */
  stream(operation: Operation): FileStream {
    return new FileStream(this.#context, { transfers: this.#transfers, files: this }, operation);
  }

  /** A program begins to read the file at `path`. */
  used(path: string): void {
    if (!this.#isHere(path)) return;
    this.#hits++;
    this.#cache.used(path);
  }

  /** What is here, and how often that sufficed; undefined for a member that has the whole folder. */
  report(): CacheReport | undefined {
    const { self, journal, wanted } = this.#context;
    if (self.onDemand !== true) return undefined;
    const { files, disk } = journal.counts();
    const { usedBytes, bytesMax, droppedFiles } = this.#cache;
    return {
      usedBytes,
      bytesMax: Math.min(bytesMax, Number.MAX_SAFE_INTEGER),
      files: disk.files,
      remoteFiles: Math.max(0, files - disk.files),
      hits: this.#hits,
      misses: this.#misses,
      fetchedBytes: this.#fetchedBytes,
      droppedFiles,
      pins: wanted.pins,
    };
  }

  /**
   * Brings the present version of the file at `path` to this disk, if it is not here. Resolves when it is, or when that cannot be: no member
   * that answers has the content, nothing came for eight seconds, or there is no room.
   */
  fetch(path: string): Promise<FetchedFile> {
    const open = this.#fetching.get(path);
    if (open !== undefined) return open;
    if (this.#isHere(path)) return Promise.resolve({ isHere: true });
    const fetching = this.#fetch(path).finally(() => this.#fetching.delete(path));
    this.#fetching.set(path, fetching);
    return fetching;
  }

  async #fetch(path: string): Promise<FetchedFile> {
    const { journal, clock, lock, facts, wanted } = this.#context;
    const operation = this.#head(path);
    const reserved = await this.#cache.reserve(path, operation?.size ?? 0);
    if ('reason' in reserved) return { isHere: false, code: 'disk-full', reason: reserved.reason };
    this.#misses++;
    const release = wanted.demand(path);
    const startedMs = clock.monotonicMs();
    try {
      await lock.run(async () => {
        if (journal.disk(path)?.remote === true) journal.recordDisk([{ path, entry: undefined }]);
      });
      facts.demanded.publish(path);
      const isOver = await this.#untilOver(path);
      if (this.#isHere(path)) {
        this.#cache.fetched(path, clock.monotonicMs() - startedMs);
        this.#fetchedBytes += operation?.size ?? 0;
        return { isHere: true };
      }
      return this.#failure(path, isOver);
    } finally {
      release();
      reserved.end();
      await this.#backToRemote(path);
    }
  }

  /** As `fetch`, and the file stays here until `release` is called. */
  async hold(path: string): Promise<HeldFile | Exclude<FetchedFile, { readonly isHere: true }>> {
    const release = this.#context.wanted.demand(path);
    const fetched = await this.fetch(path);
    if (fetched.isHere) return { release };
    release();
    await this.#backToRemote(path);
    return fetched;
  }

  /** Resolves when the file is here or a problem tells that it cannot be; with false if nothing came for too long. */
  async #untilOver(path: string): Promise<boolean> {
    const { clock, facts, problems } = this.#context;
    let lastMs = clock.monotonicMs();
    let lastBytes = -1;
    for (;;) {
      const isOver = (): boolean => this.#isHere(path) || problems.ofPath(path) !== undefined;
      if (await until(clock, isOver, { facts: [facts.applied, facts.fetched, facts.received], withinMs: checkMs }))
        return true;
      const bytes = this.#transfers.progress().find((transfer) => transfer.path === path)?.doneBytes ?? -1;
      const nowMs = clock.monotonicMs();
      if (bytes !== lastBytes) lastMs = nowMs;
      lastBytes = bytes;
      if (nowMs - lastMs >= progressMsMax) return false;
    }
  }

  /** True if the disk shows the present version, or there is no file any more. */
  #isHere(path: string): boolean {
    const head = this.#head(path);
    if (head?.content === undefined) return true;
    const row = this.#context.journal.disk(path);
    return row?.fingerprint !== undefined && row.content === head.content;
  }

  #failure(path: string, isOver: boolean): FetchedFile {
    const problem = this.#context.problems.ofPath(path);
    if (isOver && problem !== undefined) return { isHere: false, code: problem.code, reason: problem.detail };
    const reason = `Nothing of ${path} arrived for ${progressMsMax / 1_000} s: the members that have it do not answer.`;
    return { isHere: false, code: 'content-missing', reason };
  }

  /** A file that nobody waits for any more is pending no longer. */
  async #backToRemote(path: string): Promise<void> {
    const { journal, lock, facts, wanted } = this.#context;
    await lock.run(async () => {
      const head = this.#head(path);
      if (head?.content === undefined || journal.disk(path) !== undefined || wanted.isWanted(path)) return;
      journal.recordDisk([remoteEntry(path, head)]);
    });
    facts.applied.publish({ entries: 0, bytes: 0 });
  }

  #head(path: string): Operation | undefined {
    const [head] = this.#context.journal.heads(path);
    return head !== undefined && isLive(head) ? head : undefined;
  }
}

/** Makes all files pending that are not here: this member has the whole folder from now on. */
export function wantAll({ journal }: Context): void {
  for (;;) {
    const rows = journal.remoteBelow('', undefined, rowsAtOnce);
    if (rows.length === 0) return;
    journal.recordDisk(rows.map(({ path }) => ({ path, entry: undefined })));
  }
}
