import { isLive, type Operation, type ProblemCode } from '@lockstep/shared';
import { until } from '../scheduling/until.ts';
import type { Context } from '../state/context.ts';
import type { ContentFetcher } from '../transfer/content-fetcher.ts';
import type { Cache } from './cache.ts';
import { FileStream } from './file-stream.ts';

/** A reader waits no longer than this for a content of which no byte arrives. */
const progressMsMax = 8_000;
const checkMs = 1_000;
/** For so long a content is searched that no member has, and how often. */
const searchMsMin = 3_000;
const retryMs = 300;
/** The answer to a read that failed is repeated for so long. */
const failureLastsMs = 5_000;
const rowsAtOnce = 1_000;

/** Why a file is not on this disk. */
export interface Failure {
  readonly isHere: false;
  readonly code: ProblemCode;
  readonly reason: string;
}

/** The file is on this disk, or why it is not. */
export type FetchedFile = { readonly isHere: true } | Failure;

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
  readonly #failures = new Map<string, { readonly failure: Failure; readonly untilMs: number }>();
  readonly #reasonOf: (path: string) => string | undefined;
  #hits = 0;
  #misses = 0;
  #fetchedBytes = 0;

  /** `reasonOf`: why a path is not applied yet, if known. */
  constructor(
    context: Context,
    parts: {
      readonly transfers: ContentFetcher;
      readonly cache: Cache;
      readonly reasonOf: (path: string) => string | undefined;
    },
  ) {
    this.#context = context;
    this.#reasonOf = parts.reasonOf;
    context.facts.sessionOpened.on(() => this.#failures.clear());
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
    const { clock, wanted } = this.#context;
    const failed = this.#lastFailure(path);
    if (failed !== undefined) return failed;
    const operation = this.#head(path);
    const reserved = await this.#cache.reserve(path, operation?.size ?? 0);
    if ('reason' in reserved) return { isHere: false, code: 'disk-full', reason: reserved.reason };
    this.#misses++;
    // The row stays remote until the file is here: for its users the file is there all the time.
    const release = wanted.demand(path);
    const startedMs = clock.monotonicMs();
    try {
      const failure = await this.#untilHere(path);
      if (failure !== undefined) {
        this.#failures.set(path, { failure, untilMs: clock.monotonicMs() + failureLastsMs });
        return failure;
      }
      this.#cache.fetched(path, clock.monotonicMs() - startedMs);
      this.#fetchedBytes += operation?.size ?? 0;
      return { isHere: true };
    } finally {
      release();
      reserved.end();
    }
  }

  /** The kernel repeats a read that failed several times: it gets the same answer, unless a member came. */
  #lastFailure(path: string): Failure | undefined {
    const last = this.#failures.get(path);
    if (last === undefined) return undefined;
    if (this.#context.clock.monotonicMs() < last.untilMs) return last.failure;
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

  /** Has the file fetched. Resolves when it is here, or with why it is not: no member that answers has it, or nothing came for too long. */
  async #untilHere(path: string): Promise<Failure | undefined> {
    const { clock, facts } = this.#context;
    const startedMs = clock.monotonicMs();
    let progress = { bytes: -1, atMs: startedMs };
    let hasFailed = false;
    const stop = facts.fetched.on(({ paths, areHere }) => {
      hasFailed ||= !areHere && paths.includes(path);
    });
    try {
      for (;;) {
        hasFailed = false;
        facts.demanded.publish(path);
        const isOver = (): boolean => this.#isHere(path) || hasFailed;
        await until(clock, isOver, { facts: [facts.applied, facts.fetched, facts.received], withinMs: checkMs });
        if (this.#isHere(path)) return undefined;
        const nowMs = clock.monotonicMs();
        const bytes = this.#transfers.progress().find((transfer) => transfer.path === path)?.doneBytes ?? -1;
        if (bytes > progress.bytes) progress = { bytes, atMs: nowMs };
        const isLost = hasFailed && nowMs - startedMs >= searchMsMin;
        if (isLost || nowMs - progress.atMs >= progressMsMax) return this.#failure(path);
        // A member that restarts is back in a moment.
        if (hasFailed) await new Promise<void>((resolve) => clock.after(retryMs, resolve));
      }
    } finally {
      stop();
    }
  }

  /** True if the disk shows the present version, or there is no file any more. */
  #isHere(path: string): boolean {
    const head = this.#head(path);
    if (head?.content === undefined) return true;
    const row = this.#context.journal.disk(path);
    return row?.fingerprint !== undefined && row.content === head.content;
  }

  #failure(path: string): Failure {
    const { problems } = this.#context;
    const problem = problems.ofPath(path);
    const reason =
      problem?.detail ??
      this.#reasonOf(path) ??
      `Nothing of ${path} arrived for ${progressMsMax / 1_000} s: the members that have it do not answer.`;
    return { isHere: false, code: problem?.code ?? 'content-missing', reason };
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
