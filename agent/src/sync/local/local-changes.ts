import {
  batchPathsMax,
  dirtyPathsMax,
  isBelow,
  parentOf,
  rescanIntervalMs,
  stateDirectoryName,
} from '@lockstep/shared';
import { formatItems } from '@lockstep/shared/present';
import { type DirtyPath, Settle, writtenQuietMsMax } from '../../core/detection/settle.ts';
import { detectChanges } from '../detection/change-detector.ts';
import type { OperationWriter } from '../members/operation-writer.ts';
import type { Timer } from '../ports/clock.ts';
import type { WatchHint } from '../ports/folder.ts';
import type { Observation } from '../ports/observation.ts';
import { Interval } from '../scheduling/interval.ts';
import type { Context } from '../state/context.ts';
import { LargeFiles } from './large-files.ts';
import { type AwaitedPaths, PathWaits } from './path-waits.ts';
import { ScanQueue } from './scan-queue.ts';
import { WatchBarrier } from './watch-barrier.ts';

const folderRetryMs = 1_000;
/** Interval of scans of directories that cannot be watched or listed. */
const unseenScanMs = 5_000;
/** The number of times that a wait starts over because an entry was moved below it. */
const followedMax = 5;

/** The paths that are not journaled yet at the end of `settleAll`. */
interface Unsettled {
  /** Paths that changed, or may have changed. */
  readonly unsettled: readonly string[];
  /** Directories that this scan could not list. An entry that a later scan finds there is not among `unsettled`. */
  readonly unread: readonly string[];
}

/**
 * The loop from dirty paths to operations. Events and scans only mark paths. Once a path has settled, a detection compares it
 * with its row of `disk` and journals each difference as an operation.
 */
export class LocalChanges {
  readonly #context: Context;
  readonly #operationWriter: OperationWriter;
  readonly #pathsMax: number;
  readonly #settle = new Settle();
  readonly #scans: ScanQueue;
  readonly #barrier: WatchBarrier;
  readonly #largeFiles: LargeFiles;
  /** Scans the whole folder, once the first scan is done. */
  readonly #rescans: Interval;
  /** Scans directories that cannot be watched or listed. */
  readonly #unseenScans: Interval;
  /** Detections under way, by number. Their paths are in no other list. */
  readonly #detections = new Map<number, readonly DirtyPath[]>();
  #detectionsBegun = 0;
  readonly #awaited = new PathWaits();
  /** The paths that the start waits for, except those with a problem: one unreadable file must not keep a member from becoming active. */
  #startWaitsFor: AwaitedPaths | undefined;
  /** Called at the end of each detection: scans that wait for room go on. */
  readonly #roomMade = new Set<() => void>();
  /** Paths that were marked before the start. Undefined from then on. */
  #early: Set<string> | undefined;
  #wake: Timer | undefined;
  #stopped = false;

  /** `pathsMax`: the number of paths that may wait to be examined before scans wait too. */
  constructor(
    context: Context,
    operationWriter: OperationWriter,
    options: { readonly rescanIntervalMs?: number | undefined; readonly pathsMax?: number | undefined } = {},
  ) {
    this.#context = context;
    this.#pathsMax = options.pathsMax ?? dirtyPathsMax;
    this.#operationWriter = operationWriter;
    // The journal may lack operations that are still to be pulled, this member's own among them after a set-back. Compared with a part of
    // them, an entry that the user put back looks like the version that they deleted [LC34]. To an empty journal each entry is new.
    if (context.journal.log.length() > 0) this.#early = new Set();
    this.#scans = new ScanQueue(context, {
      mark: (path) => this.mark(path),
      scanned: () => context.facts.scanned.publish(),
      lostSight: () => this.#barrier.lostSight(),
      room: () => this.#room(),
    });
    this.#barrier = new WatchBarrier({
      context,
      scans: this.#scans,
      unseen: () => this.#unseen(),
      advanced: () => this.#confirmVanished(),
    });
    this.#largeFiles = new LargeFiles(context, {
      read: (unsettled, seen) => {
        this.#settle.read(unsettled.path, context.clock.monotonicMs());
        return this.#detect([unsettled], new Map([[unsettled.path, seen]]));
      },
      changed: (path) => this.#readAgain(path),
      failed: (unsettled, error) => this.#failed([unsettled], error),
    });
    this.#rescans = new Interval(context.clock, options.rescanIntervalMs ?? rescanIntervalMs, () =>
      this.scan('', true),
    );
    this.#unseenScans = new Interval(context.clock, unseenScanMs, () => this.#scanUnseen());
    context.facts.doubted.on((path) => this.mark(path));
    context.facts.unscanned.on((directory) => this.scan(directory, true));
    context.facts.revealed.on(() => this.scan('', true));
  }

  /** Begins to examine paths. Watches and scans the whole folder. Resolves when the first scan is done and the paths that it marked have been examined. */
  async start(): Promise<void> {
    await this.#context.folder.watch((hints) => this.#hinted(hints));
    this.#releaseEarly();
    this.#barrier.open();
    this.#startWaitsFor = (await this.#scanAll('')).awaited;
    await this.#startWaitsFor.empty;
    this.#awaited.remove(this.#startWaitsFor);
    this.#startWaitsFor = undefined;
    if (this.#stopped) return;
    this.#rescans.start();
    this.#unseenScans.start();
  }

  /** Scans the whole folder at this interval from now on. */
  scanEvery(intervalMs: number): void {
    this.#rescans.every(intervalMs);
  }

  stop(): void {
    this.#stopped = true;
    this.#scans.stop();
    this.#wake?.cancel();
    this.#rescans.stop();
    this.#unseenScans.stop();
    this.#largeFiles.stop();
    this.#makeRoom();
  }

  /** The entry at `path` may have changed. */
  mark(path: string): void {
    if (this.#stopped || path === '' || path === stateDirectoryName || isBelow(path, stateDirectoryName)) return;
    if (this.#early !== undefined) {
      this.#early.add(path);
      // They would not fit into memory.
      if (this.#early.size >= this.#pathsMax) this.#releaseEarly();
      return;
    }
    this.#settle.mark(path, this.#context.clock.monotonicMs());
    this.#schedule();
  }

  /** The watcher reported a change at `path`. If too many paths wait, a scan of its directory finds the change once there is room. */
  #changed(path: string): void {
    if (this.#settle.unseenCount < this.#pathsMax || this.#settle.has(path)) {
      this.mark(path);
      return;
    }
    this.#barrier.lostSight();
    this.scan(parentOf(path), false);
  }

  #releaseEarly(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const path of early) this.mark(path);
  }

  /**
   * Resolves when not too many paths wait to be examined: a scan must not fill the memory with paths faster than these are journaled. Paths
   * that were examined, and are held, do not count: they may wait for this very scan.
   */
  async #room(): Promise<void> {
    while (this.#settle.unseenCount >= this.#pathsMax && this.#isDetecting()) {
      await new Promise<void>((resolve) => this.#roomMade.add(resolve));
    }
  }

  #isDetecting(): boolean {
    if (this.#stopped || !this.#context.ignored.isKnown) return false;
    if (this.#detections.size > 0) return true;
    const dueMs = this.#settle.nextDueMs();
    return dueMs !== undefined && dueMs - this.#context.clock.monotonicMs() < writtenQuietMsMax;
  }

  #makeRoom(): void {
    for (const resolve of this.#roomMade) resolve();
    this.#roomMade.clear();
  }

  scan(directory: string, recursive: boolean): void {
    this.#scans.request(directory, recursive).catch((error: unknown) => {
      this.#context.log.error({ directory, error: String(error) }, 'scan failed');
    });
  }

  /** Directories at and below `path` that could not be listed: their entries are neither journaled nor known. */
  unread(path: string): readonly string[] {
    return this.#scans.unread(path);
  }

  /** The nearest directory above `path` that could not be listed. */
  unreadAbove(path: string): string | undefined {
    return this.#scans.unreadAbove(path);
  }

  /** True while the path waits for a detection or is read. */
  isOpen(path: string): boolean {
    return this.#settle.has(path) || this.#largeFiles.has(path) || this.#early?.has(path) === true;
  }

  /** Up to `limit` paths that keep changing, with the time until each is read: those first that are read next. Undefined: it is read. */
  changing(limit: number): readonly { readonly path: string; readonly inMs: number | undefined }[] {
    const nowMs = this.#context.clock.monotonicMs();
    const reading = [...this.#largeFiles.paths()].map((path) => ({ path, inMs: undefined }));
    const waiting = this.#settle
      .changing(nowMs)
      .filter(({ path }) => !this.#largeFiles.has(path))
      .map(({ path, dueMs }) => ({ path, inMs: Math.max(0, dueMs - nowMs) }))
      .sort((a, b) => a.inMs - b.inMs);
    return [...reading, ...waiting].slice(0, limit);
  }

  /** Number of paths that changed, or may have changed, and are not journaled yet. */
  get unsettled(): number {
    const open = this.#settle.size + this.#largeFiles.size + (this.#early?.size ?? 0);
    return open + [...this.#detections.values()].flat().length;
  }

  /**
   * Scans `path` and everything below it, and journals all changes, noticed before or not. Resolves with the paths that were not journaled
   * yet when `giveUp` resolved: `path` itself if the scan had not ended. A path that changes continuously counts as journaled after the
   * first time.
   */
  async settleAll(path: string, giveUp: Promise<void>): Promise<Unsettled> {
    let expired = false;
    const expiry = giveUp.then(() => {
      expired = true;
    });
    // A user who keeps renaming an entry that was never journaled is not followed without limit.
    for (let again = followedMax; ; again--) {
      const { awaited, unread, isScanned } = await this.#scanAll(path, expiry);
      await Promise.race([awaited.empty, expiry]);
      this.#awaited.remove(awaited);
      if (expired) return { unsettled: [...new Set([...(isScanned ? [] : [path]), ...awaited.open.keys()])], unread };
      if (!awaited.hasLost || again === 0) return { unsettled: [], unread };
    }
  }

  /**
   * Scans `path` and everything below it, or stops at `expiry`. Resolves with the paths that are still to be journaled, and the directories
   * that could not be listed.
   */
  async #scanAll(
    path: string,
    expiry?: Promise<void>,
  ): Promise<{ readonly awaited: AwaitedPaths; readonly unread: readonly string[]; readonly isScanned: boolean }> {
    let isScanned = false;
    const scanned = this.#scans.request(path, true).then(() => {
      isScanned = true;
    });
    await (expiry ? Promise.race([scanned, expiry]) : scanned);
    // Another scan may list them before the awaited paths are journaled: its marks are not awaited.
    const unread = this.unread(path);
    if (path !== '') this.mark(path);
    this.#settle.hurry(this.#context.clock.monotonicMs());
    this.#schedule();
    const wanted = (candidate: string): boolean => path === '' || candidate === path || isBelow(candidate, path);
    const awaited = this.#awaited.add([...this.#openPaths()].filter(([candidate]) => wanted(candidate)));
    return { awaited, unread, isScanned };
  }

  /**
   * Paths that may differ from the journal, each with the number of the detection that decides. That is the one under way, unless
   * the path was marked since; then it is the next one.
   */
  #openPaths(): Map<string, number> {
    const open = new Map<string, number>();
    for (const path of this.#largeFiles.paths()) open.set(path, this.#detectionsBegun + 1);
    for (const [detection, paths] of this.#detections) for (const { path } of paths) open.set(path, detection);
    for (const path of [...this.#settle.paths(), ...(this.#early ?? [])]) open.set(path, this.#detectionsBegun + 1);
    return open;
  }

  /** Paths whose entries may have appeared since they were last examined, each with the number of the detection that decides. */
  #unseen(): Map<string, number> {
    const open = new Map<string, number>();
    for (const [detection, paths] of this.#detections) for (const { path } of paths) open.set(path, detection);
    for (const path of this.#settle.unseen(this.#context.clock.monotonicMs()))
      open.set(path, this.#detectionsBegun + 1);
    return open;
  }

  #confirmVanished(): void {
    this.#settle.confirmVanished(this.#barrier.scannedUpToMs, this.#context.clock.monotonicMs());
    this.#schedule();
  }

  #scanUnseen(): void {
    const { folder, problems } = this.#context;
    const directories = folder.unwatched();
    for (const { path } of directories) this.scan(path, false);
    const beyond = directories.filter(({ closed }) => !closed).length;
    if (beyond === 0) problems.clear('watch-limit');
    else problems.set('watch-limit', {}, watchLimitDetail(beyond));
    for (const directory of this.unread('')) this.scan(directory, true);
  }

  #hinted(hints: readonly WatchHint[]): void {
    const { ignored } = this.#context;
    for (const hint of hints) {
      if (hint.kind === 'directory') this.scan(hint.path, hint.recursive);
      else if (!ignored.ignores(hint.path, false)) this.#changed(hint.path);
    }
  }

  #schedule(): void {
    // Without known ignore rules nothing is journaled.
    if (this.#stopped || this.#detections.size > 0 || !this.#context.ignored.isKnown) return;
    const dueMs = this.#settle.nextDueMs();
    this.#wake?.cancel();
    this.#wake = undefined;
    if (dueMs === undefined) return;
    const { clock } = this.#context;
    this.#wake = clock.after(Math.max(0, dueMs - clock.monotonicMs()), () => this.#turn());
  }

  #turn(): void {
    if (this.#stopped || this.#detections.size > 0) return;
    const due = this.#settle.takeDue(this.#context.clock.monotonicMs(), batchPathsMax);
    this.#detect(due, new Map()).catch((error: unknown) => this.#failed(due, error));
  }

  #failed(batch: readonly DirtyPath[], error: unknown): void {
    this.#context.log.error({ error: String(error) }, 'a detection at changed paths failed; it is retried');
    const nowMs = this.#context.clock.monotonicMs();
    for (const { path, firstMs } of batch) this.#settle.defer({ path, firstMs, lastMs: nowMs }, nowMs + folderRetryMs);
    this.#schedule();
  }

  async #detect(
    batch: readonly DirtyPath[],
    read: ReadonlyMap<string, Observation & { state: 'file' }>,
  ): Promise<void> {
    if (batch.length === 0) {
      this.#schedule();
      return;
    }
    const { clock, lock } = this.#context;
    const number = ++this.#detectionsBegun;
    this.#detections.set(number, batch);
    try {
      const { scannedUpToMs } = this.#barrier;
      const result = await lock.run(() =>
        detectChanges(this.#context, this.#operationWriter, { batch, read, scannedUpToMs }),
      );
      const nowMs = clock.monotonicMs();
      for (const path of result.published) this.#settle.published(path, nowMs);
      for (const { unsettled, dueMs, isLarge } of result.deferred) this.#settle.defer({ ...unsettled, isLarge }, dueMs);
      for (const path of result.unread) this.#settle.keepUnseen(path);
      // Paths that already wait for a detection are not delayed.
      const marked = [...result.mark, ...result.followed.map(({ next }) => next)];
      for (const path of marked) if (!this.#settle.has(path)) this.mark(path);
      for (const directory of result.scan) this.scan(directory, true);
      for (const unsettled of result.large) this.#largeFiles.add(unsettled);
      if (result.lostSight) this.#barrier.lostSight();
      for (const { path } of batch) if (!result.unread.has(path)) this.#barrier.examined(path, number);
      if (result.vanished) this.#barrier.request();
      for (const path of result.lost) this.#awaited.lost(path);
      // The start waits for no second read.
      for (const { path, next } of result.followed)
        this.#awaited.followed(path, number, { path: next, detection: this.#detectionsBegun + 1 }, this.#startWaitsFor);
      for (const path of [...result.published, ...result.settled]) this.#awaited.passed(path, number);
      if (this.#startWaitsFor) {
        for (const path of result.withProblem) this.#awaited.passed(path, number, this.#startWaitsFor);
      }
    } finally {
      this.#detections.delete(number);
      this.#schedule();
      this.#makeRoom();
    }
  }

  /** The file changed while it was read. Its rest period starts again: a file that keeps growing must not be read without pause. */
  #readAgain(path: string): void {
    const nowMs = this.#context.clock.monotonicMs();
    this.#settle.readOvertaken(path, nowMs);
    this.#settle.defer({ path, firstMs: nowMs, lastMs: nowMs, isLarge: true }, nowMs);
    this.#schedule();
  }
}

/** The detail of the problem that so many directories cannot be watched. */
function watchLimitDetail(directories: number): string {
  const which = formatItems(directories, 'directory', 'directories');
  return (
    `${which} cannot be watched: a limit of the system is reached. Instead, a scan finds changes there every ` +
    `${unseenScanMs / 1000} s. On Linux raise fs.inotify.max_user_watches or max_user_instances ` +
    '(sysctl; lockstep doctor says which) to have changes noticed at once.'
  );
}
