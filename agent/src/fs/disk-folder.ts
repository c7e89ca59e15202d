import { blockBytes, type ContentId } from '@lockstep/shared';
import { inodesOf } from '../core/disk-room.ts';
import type { PackedFiles } from '../core/packed-files.ts';
import { BlockBuffers } from '../os/block-buffers.ts';
import type {
  ActionRequest,
  ActionResult,
  ChangedMount,
  ContentSource,
  Draft,
  Folder,
  FolderHealth,
  HistoryLimits,
  HistoryUse,
  PolledFiles,
  ReleasedFile,
  SyncResult,
  UnwatchedDirectory,
  WatchHint,
} from '../sync/ports/folder.ts';
import type { Observation, ObserveRequest, ScannedDirectory } from '../sync/ports/observation.ts';
import type { BlockSource, PieceReader } from '../sync/ports/pieces.ts';
import type { ContentDescription, StageBlockOutcome, StagedCopies } from './apply/block-store.ts';
import type { KeepRequest } from './apply/keep.ts';
import { leftContents } from './apply/left-blocks.ts';
import { blockFilePath } from './apply/staging.ts';
import { BlockReads } from './block-reads.ts';
import { DraftFile } from './draft-file.ts';
import { isWorthSyncingTogether } from './durable.ts';
import { FolderActions } from './folder-actions.ts';
import { HistoryIndex } from './history-index.ts';
import { FolderMounts } from './mounts/folder-mounts.ts';
import { byFileSystem } from './mounts/mounts.ts';
import { folderMissing, folderUnusable, type PathProblem } from './path-problem.ts';
import { DiskPieces } from './piece-reader.ts';
import { absolutePath, folderProblem, isSame, type Places } from './places.ts';
import { type ScanOptions, scan } from './scan.ts';
import { type StageBlockRequest, type StageCopiesRequest, StagedContents } from './staged-contents.ts';
import { restoreStateDirectories } from './state-directories.ts';
import type { ControlCalls } from './system-calls.ts';
import type { DirectoryWatches } from './watch/directory-watches.ts';
import type { JobRunner } from './worker/worker-job.ts';

export interface DiskFolderOptions {
  readonly places: Places;
  /** See `openPlaces`. */
  readonly released: readonly ReleasedFile[];
  readonly control: ControlCalls;
  readonly workers: JobRunner;
  /** The memory for blocks; by default its own. */
  readonly buffers?: BlockBuffers | undefined;
  /** Of a larger content, what is made durable at once while it arrives; by default 16 MiB. */
  readonly syncedAtOnceBytes?: number | undefined;
  /** Creates the watches, which report to `hint`. */
  readonly watches: (hint: (hints: readonly WatchHint[]) => void) => DirectoryWatches;
}

/** The folder port on a real folder. Worker threads do all that reads or writes more than a few bytes. */
export class DiskFolder implements Folder {
  readonly leftContents: readonly ContentId[];
  readonly released: readonly ReleasedFile[];
  readonly pieces: PieceReader;
  readonly #places: Places;
  readonly #control: ControlCalls;
  readonly #workers: JobRunner;
  readonly #reads: BlockReads;
  readonly #staged: StagedContents;
  readonly #history: HistoryIndex;
  readonly #actions: FolderActions;
  readonly #newWatches: DiskFolderOptions['watches'];
  readonly #mounts: FolderMounts;
  #watcher: DirectoryWatches | undefined;
  #zeroBlockHash: Uint8Array | undefined;

  /** Use `openFolder`. */
  constructor(options: DiskFolderOptions) {
    const { places, control, workers, buffers = new BlockBuffers(), watches, syncedAtOnceBytes } = options;
    this.#places = places;
    this.#control = control;
    this.#workers = workers;
    this.#reads = new BlockReads(workers, buffers);
    this.#newWatches = watches;
    this.leftContents = leftContents(places);
    this.released = options.released;
    this.pieces = new DiskPieces(workers);
    this.#staged = new StagedContents({
      workers,
      buffers,
      syncStaged: (content) => control.syncFile(blockFilePath(places, content)),
      left: this.leftContents,
      syncedAtOnceBytes,
    });
    this.#history = new HistoryIndex(workers, control);
    this.#actions = new FolderActions({
      workers,
      staged: this.#staged,
      history: this.#history,
      watches: () => this.#watcher,
    });
    this.#mounts = new FolderMounts(workers, places);
  }

  async watch(hint: (hints: readonly WatchHint[]) => void): Promise<void> {
    await this.#watcher?.close();
    this.#watcher = this.#newWatches(hint);
    this.#watcher.watch('');
  }

  unwatched(): readonly UnwatchedDirectory[] {
    return this.#watcher?.unwatched() ?? [];
  }

  async flushHints(): Promise<boolean> {
    return (await this.#watcher?.flush()) ?? false;
  }

  async observe(requests: readonly ObserveRequest[]): Promise<readonly Observation[]> {
    // Reading a large file takes seconds: a job that runs under the folder lock must not wait for it.
    const lane = requests.some(({ hashLarge }) => hashLarge) ? 'background' : 'any';
    const observations = await this.#workers.run('observe', requests, lane);
    for (const seen of observations) if (seen.state === 'problem') this.#mounts.suspect(seen.mount);
    return observations;
  }

  poll(files: PackedFiles): Promise<PolledFiles> {
    return this.#workers.run('poll', files, 'background');
  }

  mapped(): Promise<readonly string[]> {
    return this.#workers.run('mapped', undefined, 'background');
  }

  inUse(): Promise<readonly string[]> {
    return this.#workers.run('inUse', undefined, 'background');
  }

  async *scan(directory: string, options: ScanOptions): AsyncIterable<readonly ScannedDirectory[]> {
    const watcher = options.unwatched === true ? undefined : this.#watcher;
    for await (const chunk of scan(this.#workers, watcher, directory, options)) {
      for (const { problem } of chunk) this.#mounts.suspect(problem?.mount);
      yield chunk;
    }
  }

  apply(requests: readonly ActionRequest[]): Promise<readonly ActionResult[]> {
    return this.#actions.apply(requests);
  }

  async sync(paths: readonly string[]): Promise<SyncResult> {
    const { root } = this.#places;
    const absolutes = paths.map((path) => absolutePath(root, path));
    const left: string[] = [];
    for (const [fileSystem, group] of byFileSystem({ ...this.#places, mounts: this.#workers.mounts }, absolutes)) {
      const isTogether =
        isWorthSyncingTogether(this.#control, group.length) && folderProblem(this.#places) === undefined;
      // One fsync for each also says which file the disk could not write.
      if (isTogether && (await this.#control.syncFileSystem(fileSystem))) continue;
      for (const absolute of group) left.push(absolute);
    }
    const input = { paths, left: left.map((absolute) => absolute.slice(root.length + 1)) };
    return await this.#workers.run('sync', input, 'background');
  }

  stageBlock(request: StageBlockRequest): Promise<StageBlockOutcome> {
    return this.#staged.stage(request);
  }

  stageCopies(request: StageCopiesRequest): Promise<StagedCopies> {
    return this.#staged.stageCopies(request);
  }

  stagedBlocks(request: ContentDescription): Promise<readonly number[]> {
    return this.#staged.present(request);
  }

  get zeroBlockHash(): Uint8Array {
    this.#zeroBlockHash ??= this.#places.hash(new Uint8Array(blockBytes));
    return this.#zeroBlockHash;
  }

  unstage(content: ContentId): Promise<void> {
    return this.#staged.drop(content);
  }

  draft(): Draft {
    return new DraftFile(this.#workers, this.#places.temporaryName());
  }

  readBlock(block: BlockSource): Promise<Uint8Array | undefined> {
    return this.#reads.read(block);
  }

  readBlocks(blocks: readonly BlockSource[]): Promise<readonly (Uint8Array | undefined)[]> {
    return this.#reads.readAll(blocks);
  }

  holdsBlock(block: BlockSource): Promise<boolean> {
    return this.#reads.holds(block);
  }

  async inHistory(contents: readonly ContentId[]): Promise<ReadonlySet<ContentId>> {
    if (contents.length === 0) return new Set();
    return new Set(await this.#workers.run('inHistory', contents));
  }

  async keep(requests: readonly KeepRequest[]): Promise<readonly boolean[]> {
    const isHere = ({ content, source }: KeepRequest) => source.from !== 'staged' || this.#staged.isComplete(content);
    const here = requests.filter(isHere);
    const staged = here.flatMap(({ content, source }) => (source.from === 'staged' ? [content] : []));
    if (here.length === 0) return requests.map(() => false);
    const outcomes = await this.#staged.use(staged, () => this.#workers.run('keep', here.map(ownBytes), 'background'));
    const kept = new Map(here.map((request, index) => [request, outcomes[index] ?? false]));
    this.#history.add(outcomes.filter((outcome) => typeof outcome === 'object'));
    return requests.map((request) => (kept.get(request) ?? false) !== false);
  }

  historyUse(): HistoryUse | undefined {
    return this.#history.use;
  }

  countHistory(): Promise<HistoryUse> {
    return this.#history.count();
  }

  trimHistory(limits: HistoryLimits, needed: (content: ContentId) => boolean): Promise<void> {
    return this.#history.trim(limits, needed);
  }

  checkMounts(): Promise<readonly ChangedMount[]> {
    return this.#mounts.check();
  }

  acceptMount(path: string): Promise<void> {
    return this.#mounts.accept(path);
  }

  async health(): Promise<FolderHealth> {
    const measured = await this.#measure();
    // After the measurement: if the folder went away during it, the room is that of the disk below.
    const away = await this.#awayProblem();
    if (away !== undefined) return { ok: false, detail: away.detail };
    if (!measured.ok) return measured;
    const problem = restoreStateDirectories(this.#places);
    if (problem?.code === folderMissing.code) return { ok: false, detail: problem.detail };
    return problem === undefined ? measured : { ...measured, state: problem.detail };
  }

  /** Measures the disk to which the path of the folder leads now. */
  async #measure(): Promise<FolderHealth> {
    const { root, state } = this.#places;
    try {
      const { bavail, blocks, bsize, ...stats } = await this.#control.statfs(root);
      const room = { freeBytes: bavail * bsize, totalBytes: blocks * bsize, inodes: inodesOf(stats) };
      const writable = await Promise.all([root, state].map((path) => this.#control.isWritable(path)));
      if (writable.every(Boolean)) return { ok: true, room };
      const detail = `The folder ${root} cannot be written: give the agent's user permission, or mount it writable.`;
      return { ok: false, detail, room };
    } catch (error) {
      return { ok: false, detail: `The folder ${root} cannot be read: ${String(error)}` };
    }
  }

  stalledMs(): number {
    return this.#workers.stalledMs();
  }

  /** Stops watching, waits for running jobs, and ends the workers. */
  async close(): Promise<void> {
    await this.#watcher?.close();
    await this.#workers.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** As `folderProblem`, without waiting for the disk. */
  async #awayProblem(): Promise<PathProblem | undefined> {
    const { root, rootIdentity, state, stateIdentity } = this.#places;
    try {
      const [rootStats, stateStats] = await Promise.all([this.#control.stat(root), this.#control.stat(state)]);
      if (!isSame(rootStats, rootIdentity) || !isSame(stateStats, stateIdentity)) return folderMissing;
      await this.#control.openOnce(root);
      return undefined;
    } catch (error) {
      return folderUnusable(error);
    }
  }
}

/** The request with bytes of its own: a view would send its whole buffer to the worker. */
function ownBytes({ content, blocks, size, source }: KeepRequest): KeepRequest {
  const own: ContentSource = source.from === 'bytes' ? { from: 'bytes', bytes: new Uint8Array(source.bytes) } : source;
  return { content, blocks: blocks && new Uint8Array(blocks), size, source: own };
}
