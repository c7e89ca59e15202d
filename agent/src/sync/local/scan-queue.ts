import {
  batchPathsMax,
  isBelow,
  joinPath,
  nameOf,
  type Problem,
  type ProblemCode,
  parentOf,
  stateDirectoryName,
  tooLongText,
  unreadHoldMs,
} from '@lockstep/shared';
import { type DiskEntry, type Fingerprint, isLinkMode, isSameEntry } from '../../core/entry.ts';
import type { ScannedDirectory } from '../ports/observation.ts';
import { Yielder } from '../scheduling/yielder.ts';
import type { Context } from '../state/context.ts';

export interface ScanListener {
  /** The entry at `path` differs from its row. */
  mark(path: string): void;
  /** The whole folder was scanned. */
  scanned(): void;
  /** The folder is missing, or could not be scanned. */
  lostSight(): void;
  /** Resolves when more paths may be marked. */
  room(): Promise<void>;
}

/** A queued scan. A ticket is the number of requests made before: before the first and the last one for this directory. */
interface QueuedScan {
  readonly recursive: boolean;
  readonly ticket: number;
  readonly lastTicket: number;
}

/**
 * Compares directories with the rows of `disk` and marks differences. A directory that was found, made or renamed is scanned,
 * because writes into it before its watch was set raised no event. The whole folder is scanned at the start, by timer, and when
 * events may have been lost.
 */
export class ScanQueue {
  readonly #context: Context;
  readonly #listener: ScanListener;
  /** Queued scans in the order of the requests, by directory. */
  readonly #queue = new Map<string, QueuedScan>();
  /** Directories that were scanned with all below them since the queue was empty: the number of requests made before that. */
  readonly #scanned = new Map<string, number>();
  readonly #waiting = new Set<{ readonly ticket: number; readonly resolve: () => void }>();
  /** Directories whose last listing failed: since when, and the code of the reported problem, if any. */
  readonly #unread = new Map<string, { readonly sinceMs: number; readonly code: ProblemCode | undefined }>();
  #tickets = 0;
  #running = false;
  #stopped = false;

  constructor(context: Context, listener: ScanListener) {
    this.#context = context;
    this.#listener = listener;
  }

  /** Schedules a scan; resolves when it, and everything scheduled before, is done. */
  request(directory: string, recursive: boolean): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const lastTicket = this.#tickets++;
    let ticket = lastTicket;
    if (recursive && directory === '') {
      // This scan covers the queued ones, so their waiters wait for it.
      for (const waiting of this.#queue.values()) ticket = Math.min(ticket, waiting.ticket);
      this.#queue.clear();
    }
    const known = this.#queue.get(directory);
    if (!this.#queue.get('')?.recursive) {
      this.#queue.set(directory, {
        recursive: recursive || (known?.recursive ?? false),
        ticket: known?.ticket ?? ticket,
        lastTicket,
      });
    }
    if (!this.#running) {
      this.#running = true;
      this.#run().catch((error: unknown) => this.#context.log.error({ error: String(error) }, 'scanning ended'));
    }
    return this.finished();
  }

  /** Resolves when all scans scheduled so far are done. */
  finished(): Promise<void> {
    if (!this.#running) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.add({ ticket: this.#tickets, resolve }));
  }

  /** Directories at and below `path` whose last listing failed: their entries are not known. */
  unread(path: string): readonly string[] {
    return [...this.#unread.keys()].filter((directory) => directory === path || isBelow(directory, path));
  }

  /** The nearest directory above `path` whose last listing failed: whether the path is there is not known. */
  unreadAbove(path: string): string | undefined {
    for (let above = path; above !== ''; ) {
      above = parentOf(above);
      if (this.#unread.has(above)) return above;
    }
    return undefined;
  }

  /** Those of the unread directories that may still contain an entry that is missing elsewhere. */
  newlyUnread(): readonly string[] {
    const staleMs = this.#context.clock.monotonicMs() - unreadHoldMs;
    return [...this.#unread].filter(([, { sinceMs }]) => sinceMs > staleMs).map(([directory]) => directory);
  }

  stop(): void {
    this.#stopped = true;
    this.#queue.clear();
  }

  async #run(): Promise<void> {
    try {
      for (let next = this.#next(); next !== undefined; next = this.#next()) {
        const { directory, recursive, lastTicket } = next;
        this.#queue.delete(directory);
        if (!this.#wasScanned(directory, lastTicket)) {
          const since = this.#tickets;
          const isDone = await this.#scan(directory, recursive);
          if (this.#stopped) return;
          if (isDone && recursive) this.#scanned.set(directory, since);
        }
        this.#release(this.#firstTicket());
      }
    } finally {
      this.#running = false;
      this.#scanned.clear();
      this.#release(Number.POSITIVE_INFINITY);
    }
  }

  /** The first queued scan, or the highest one that covers it: each directory of a deep tree may be queued. */
  #next(): (QueuedScan & { readonly directory: string }) | undefined {
    const [first] = this.#queue;
    if (first === undefined) return undefined;
    const [directory, scan] = first;
    let next = { directory, ...scan };
    for (const above of withAbove(directory)) {
      const covering = this.#queue.get(above);
      if (covering?.recursive) next = { directory: above, ...covering };
    }
    return next;
  }

  /** True if a scan that began after the request with this ticket covered the directory. */
  #wasScanned(directory: string, ticket: number): boolean {
    return withAbove(directory).some((above) => (this.#scanned.get(above) ?? 0) > ticket);
  }

  #firstTicket(): number {
    const [first] = this.#queue.values();
    return first?.ticket ?? Number.POSITIVE_INFINITY;
  }

  /** Resolves the waits that need no scan from `ticket` on. */
  #release(ticket: number): void {
    for (const waiting of this.#waiting) {
      if (waiting.ticket > ticket) continue;
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
  }

  /** Resolves with true if the directory was scanned. */
  async #scan(directory: string, recursive: boolean): Promise<boolean> {
    const { folder, ignored, log } = this.#context;
    const skip = (path: string, isDirectory: boolean): boolean => ignored.ignores(path, isDirectory);
    const found: Found = { skipped: new Set(), unread: [] };
    // A later one, or one that is reported again, is about an entry that the listing may lack.
    const reported = new Set(this.#context.problems.list());
    const countedUpTo = this.#context.problems.countedReports;
    try {
      for await (const chunk of folder.scan(directory, { recursive, skip })) {
        if (this.#stopped) return false;
        for (const scanned of chunk) await this.#compare(scanned, found);
        await this.#listener.room();
      }
      this.#forgetSkipped(directory, { recursive, reported, countedUpTo, found });
      this.#forgetUnread(directory, recursive, found);
      if (directory === '' && recursive) this.#listener.scanned();
      return true;
    } catch (error) {
      this.#listener.lostSight();
      if (!this.#unread.has(directory)) this.#setUnread(directory, undefined);
      log.warn({ directory, error: String(error) }, 'a scan failed; a timer repeats it');
      return false;
    }
  }

  #setUnread(directory: string, code: ProblemCode | undefined): void {
    const sinceMs = this.#unread.get(directory)?.sinceMs ?? this.#context.clock.monotonicMs();
    this.#unread.set(directory, { sinceMs, code });
  }

  /** Withdraws those of the problems reported before whose entry a listing no longer contains: no detection examines it. */
  #forgetSkipped(directory: string, { recursive, reported, countedUpTo, found }: Listing): void {
    const { problems, journal } = this.#context;
    const { skipped, unread } = found;
    const isOver = (code: ProblemCode, path: string): boolean => {
      if (!skippedCodes.has(code) || skipped.has(path)) return false;
      // An operation of another member at the path has the same problem for another reason: it cannot be applied here.
      if (code === 'path-too-long' && journal.heads.at(path).length > 0) return false;
      const listed = recursive ? isBelow(path, directory) : parentOf(path) === directory;
      return listed && !unread.some((closed) => isBelow(path, closed));
    };
    problems.clearCounted(countedUpTo, isOver);
    for (const problem of problems.list()) {
      const { code, path } = problem;
      if (path !== undefined && reported.has(problem) && isOver(code, path)) problems.clear(code, { path });
    }
  }

  /** Withdraws problems of directories that could be listed now, or no longer exist. */
  #forgetUnread(directory: string, recursive: boolean, { unread }: Found): void {
    for (const [path, { code }] of this.#unread) {
      const covered = path === directory || (recursive && isBelow(path, directory));
      if (!covered || unread.some((closed) => path === closed || isBelow(path, closed))) continue;
      this.#unread.delete(path);
      if (code !== undefined) this.#context.problems.clear(code, { path });
    }
  }

  async #compare(scanned: ScannedDirectory, found: Found): Promise<void> {
    const { problems, hiding } = this.#context;
    const { path } = scanned;
    for (const { name, code } of scanned.skipped) {
      const child = joinPath(path, name);
      problems.set(code, { path: child }, skippedDetail(code, child));
      found.skipped.add(child);
    }
    if (scanned.absent) {
      if (path !== '') this.#listener.mark(path);
      return;
    }
    if (scanned.problem) {
      const { code, detail } = scanned.problem;
      found.unread.push(path);
      // The mount point has the problem, not each directory below it.
      if (code === 'mount-changed') {
        hiding.add(scanned.problem.mount ?? path);
        return;
      }
      // The folder as a whole is one problem, not one for each directory.
      if (code === 'folder-missing') problems.set(code, {}, detail);
      else problems.setOfListing(code, path, detail);
      this.#setUnread(path, problems.has(code, { path }) ? code : undefined);
      if (code === 'folder-missing') this.#listener.lostSight();
    }
    const yielder = new Yielder(this.#context.clock);
    const rows = await this.#rowsIn(path, yielder);
    // Rows may change meanwhile, which only marks a path that is not dirty. A change after the listing raises an event.
    for (const entry of scanned.entries) {
      await yielder.maybeYield();
      const child = joinPath(path, entry.name);
      const row = rows.get(child);
      rows.delete(child);
      if (!isCertainlySame(row, entry.fingerprint)) this.#listener.mark(child);
      // The problem of a link's target stays until the next detection.
      if (problems.isKnown('path-not-utf8', child)) found.skipped.add(child);
    }
    for (const name of scanned.unreadable ?? []) {
      const child = joinPath(path, name);
      rows.delete(child);
      this.#listener.mark(child);
    }
    // A name that is missing in an incomplete listing may still exist.
    if (scanned.problem === undefined) for (const gone of rows.keys()) this.#listener.mark(gone);
  }

  /** The rows of the existing entries in a directory, by path. A directory may have more than are read at once. */
  async #rowsIn(directory: string, yielder: Yielder): Promise<Map<string, DiskEntry>> {
    const found = new Map<string, DiskEntry>();
    for (let after: string | undefined; ; ) {
      const rows = this.#context.journal.disk.children(directory, after, batchPathsMax);
      for (const row of rows) found.set(row.path, row);
      if (rows.length < batchPathsMax) return found;
      after = rows.at(-1)?.path;
      await yielder.maybeYield();
    }
  }
}

/**
 * False for a link that was made again at once: its inode number, size and times may be those of the former one. To read it costs less than
 * to know when that is excluded.
 */
function isCertainlySame(row: DiskEntry | undefined, seen: Fingerprint): boolean {
  if (row?.fingerprint === undefined || row.racy || isLinkMode(seen.mode)) return false;
  return isSameEntry(row.fingerprint, seen);
}

/** The directory and those above it, from it on. */
function withAbove(directory: string): readonly string[] {
  const found = [directory];
  for (let above = directory; above !== ''; found.push(above)) above = parentOf(above);
  return found;
}

/** Results of a scan, in addition to the entries to compare. */
interface Found {
  /** Paths that are left alone. */
  readonly skipped: Set<string>;
  /** Directories that could not be listed. */
  readonly unread: string[];
}

/** A scan that is done: its extent, the problems known before it, and its results. */
interface Listing {
  readonly recursive: boolean;
  readonly reported: ReadonlySet<Problem>;
  /** The number of reports of problems that are only counted. */
  readonly countedUpTo: number;
  readonly found: Found;
}

/** Codes of entries that are not synchronized. */
const skippedCodes: ReadonlySet<ProblemCode> = new Set([
  'path-not-utf8',
  'path-special',
  'path-reserved',
  'path-too-long',
]);

function skippedDetail(code: string, path: string): string {
  if (code === 'path-not-utf8')
    return `The name of ${path} is not UTF-8. It is left alone; rename it to have it replicated.`;
  if (code === 'path-special') return `${path} is a socket, pipe or device. It is left alone.`;
  if (code === 'path-reserved') {
    const isSpelledSo = nameOf(path) === stateDirectoryName;
    if (!isSpelledSo) {
      return (
        `The name of ${path} is reserved: some file systems take it for ${stateDirectoryName}, where the keys of a member lie. It is left ` +
        'alone and not replicated; rename it to have it replicated.'
      );
    }
    return (
      `${path} is another member's state and may hold its keys. It is left alone and not replicated. Move that member's folder ` +
      'out of this one; or, to keep its files as a part of this one, stop its agent and remove this .lockstep.'
    );
  }
  return tooLongText(path) ?? `${path} is not a path that can be replicated. It is left alone; rename it.`;
}
