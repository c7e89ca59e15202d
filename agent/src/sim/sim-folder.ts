import {
  blockBytes,
  type ContentId,
  hashUnderLockBytesMax,
  inlineBytesMax,
  isStateName,
  isStatePath,
  joinPath,
} from '@lockstep/shared';
import { fingerprintAt, type PackedFiles } from '../core/packed-files.ts';
import type {
  ActionRequest,
  ActionResult,
  ChangedMount,
  ContentSource,
  Folder,
  FolderHealth,
  HistoryLimits,
  Observation,
  ObserveRequest,
  PolledFiles,
  ScannedDirectory,
  ScannedEntry,
  SyncResult,
  UnwatchedDirectory,
  WatchHint,
} from '../sync/ports/folder.ts';
import { isBlock, isZeros } from './content.ts';
import { fingerprintOf, type Inode, mtimeUsOf, sameFingerprint } from './disk.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { Scheduler } from './scheduler.ts';
import { isRacy, type PlacedListener, type Prepared, SimApply } from './sim-apply.ts';
import { SimWatcher, type WatchConduct } from './sim-watcher.ts';
import type { Volume } from './volume.ts';

/** Bytes that a disk which is not full still has. */
const freeBytes = 64 * 1024 ** 3;

export interface SimFolderOptions {
  readonly volume: Volume;
  readonly scheduler: Scheduler;
  readonly random: Random;
  readonly life: Life;
  readonly wallMs: () => number;
  readonly watch: WatchConduct;
  /** The longest time that one system call takes. */
  readonly callMsMax: number;
  readonly placed: PlacedListener;
  /** Tells the story of the run what an action came to. */
  readonly tell: (what: () => string) => void;
}

/** The folder port over a volume in memory, for one life of an agent. Time passes, and others write, between its steps. */
export class SimFolder implements Folder {
  readonly #volume: Volume;
  readonly #scheduler: Scheduler;
  readonly #random: Random;
  readonly #life: Life;
  readonly #wallMs: () => number;
  readonly #callMsMax: number;
  readonly #tell: (what: () => string) => void;
  readonly #apply: SimApply;
  readonly #watcher: SimWatcher;

  constructor(options: SimFolderOptions) {
    const { volume, scheduler, random, life, wallMs, placed } = options;
    this.#volume = volume;
    this.#scheduler = scheduler;
    this.#random = random;
    this.#life = life;
    this.#wallMs = wallMs;
    this.#callMsMax = options.callMsMax;
    this.#tell = options.tell;
    this.#apply = new SimApply({ volume, life, wallMs, placed });
    this.#watcher = new SimWatcher({ disk: volume.disk, scheduler, random, life, conduct: options.watch });
    // An agent that begins clears what the one before it left in staging, or may come to keep it: nobody may build on either.
    if (random.chance(0.5)) volume.staging.clear();
  }

  watch(hint: (hints: readonly WatchHint[]) => void): Promise<void> {
    return this.#whileAlive(async () => {
      await this.#call();
      this.#watcher.start(hint);
    });
  }

  unwatched(): readonly UnwatchedDirectory[] {
    return [];
  }

  flushHints(): Promise<boolean> {
    return this.#whileAlive(async () => {
      await this.#call();
      if (this.#volume.missing || this.#volume.full) return false;
      await this.#watcher.flush();
      return true;
    });
  }

  observe(requests: readonly ObserveRequest[]): Promise<readonly Observation[]> {
    return this.#whileAlive(async () => {
      const observations: Observation[] = [];
      for (const request of requests) observations.push(await this.#observe(request));
      return observations;
    });
  }

  poll(files: PackedFiles): Promise<PolledFiles> {
    return this.#whileAlive(async () => {
      await this.#call();
      const changed: string[] = [];
      const linked: string[] = [];
      for (const [index, path] of this.#volume.missing ? [] : files.paths.entries()) {
        const inode = this.#volume.disk.at(path);
        const fingerprint = fingerprintAt(files, index);
        if (inode?.type !== 'file' || inode.number !== fingerprint.ino) continue;
        if (!sameFingerprint(fingerprintOf(inode), fingerprint)) changed.push(path);
        if (inode.links > 1) linked.push(path);
      }
      return { changed, linked };
    });
  }

  /** No program runs that could have mapped anything: the round over all files finds what raises no event. */
  mapped(): Promise<readonly string[]> {
    return this.#whileAlive(() => Promise.resolve([]));
  }

  async *scan(
    directory: string,
    options: { readonly recursive: boolean; readonly skip: (path: string, isDirectory: boolean) => boolean },
  ): AsyncGenerator<readonly ScannedDirectory[]> {
    const waiting = [directory];
    let batch: ScannedDirectory[] = [];
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
      await this.#whileAlive(() => this.#call());
      const scanned = this.#list(path, options.skip);
      batch.push(scanned);
      if (options.recursive) {
        const below = scanned.entries
          .filter(({ type }) => type === 'directory')
          .map(({ name }) => joinPath(scanned.path, name));
        waiting.push(...below.reverse());
      }
      if (waiting.length > 0 && this.#random.chance(0.7)) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  }

  apply(requests: readonly ActionRequest[]): Promise<readonly ActionResult[]> {
    return this.#whileAlive(async () => {
      if (this.#volume.missing) {
        return requests.map(
          () => ({ result: 'problem', code: 'folder-missing', detail: 'The folder is gone.' }) as const,
        );
      }
      const prepared: Prepared[] = [];
      for (const { action } of requests) {
        this.#life.effect();
        if (action.do === 'write') await this.#call();
        prepared.push(this.#apply.prepare(action));
      }
      await this.#call();
      const results: ActionResult[] = [];
      for (const [index, request] of requests.entries()) {
        this.#life.effect();
        await this.#call();
        const result = this.#changedMount(request) ?? this.#apply.commit(request, prepared[index]);
        this.#tell(() => `  apply ${describe(request)}: ${result.result}`);
        results.push(result);
      }
      await this.#call();
      this.#life.effect();
      this.#volume.disk.cache.commit();
      return results;
    });
  }

  sync(): Promise<SyncResult> {
    return this.#whileAlive(async () => {
      this.#life.effect();
      await this.#call();
      if (this.#volume.missing) return { result: 'not-done', detail: 'The folder is gone.' };
      this.#volume.disk.cache.sync();
      await this.#call();
      return { result: 'done' };
    });
  }

  stageBlock(request: {
    readonly content: ContentId;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
    readonly index: number;
    readonly bytes: Uint8Array;
  }): Promise<'ok' | 'corrupt' | 'disk-full'> {
    return this.#whileAlive(async () => {
      this.#life.effect();
      await this.#call();
      if (!isBlock(request.bytes, request.content, request.blocks, request.index)) return 'corrupt';
      if (this.#volume.full) return 'disk-full';
      const count = Math.max(1, Math.ceil(request.size / blockBytes));
      const empty = Array.from({ length: count }, () => undefined);
      const staged = this.#volume.staging.get(request.content) ?? { size: request.size, parts: empty };
      staged.parts[request.index] = request.bytes;
      this.#volume.staging.set(request.content, staged);
      return 'ok';
    });
  }

  unstage(content: ContentId): Promise<void> {
    return this.#whileAlive(async () => {
      this.#life.effect();
      await this.#call();
      this.#volume.staging.delete(content);
    });
  }

  readBlock(request: {
    readonly content: ContentId;
    readonly index: number;
    readonly source: ContentSource;
  }): Promise<Uint8Array | undefined> {
    return this.#whileAlive(async () => {
      await this.#call();
      // A folder that is gone gives nothing; history lies on the same disk.
      if (this.#volume.missing) return undefined;
      return this.#apply.contentAt(request.source, request.content)?.parts[request.index];
    });
  }

  async holdsBlock(request: {
    readonly content: ContentId;
    readonly index: number;
    readonly source: ContentSource;
  }): Promise<boolean> {
    return (await this.readBlock(request)) !== undefined;
  }

  inHistory(contents: readonly ContentId[]): Promise<ReadonlySet<ContentId>> {
    return this.#whileAlive(async () => {
      await this.#call();
      return new Set(contents.filter((content) => this.#volume.history.has(content)));
    });
  }

  keep(request: { readonly content: ContentId; readonly source: ContentSource }): Promise<boolean> {
    return this.#whileAlive(async () => {
      this.#life.effect();
      await this.#call();
      if (this.#volume.history.has(request.content)) return true;
      const content = this.#apply.contentAt(request.source, request.content);
      if (content === undefined || this.#volume.full) return false;
      this.#volume.keep(request.content, this.#volume.disk.newFile(content, 0o600));
      return true;
    });
  }

  trimHistory({ bytesMax, filesMax }: HistoryLimits, needed: (content: ContentId) => boolean): Promise<void> {
    return this.#whileAlive(async () => {
      this.#life.effect();
      await this.#call();
      let bytes = 0;
      for (const inode of this.#volume.history.values()) bytes += inode.content?.size ?? 0;
      for (const [content, inode] of this.#volume.history) {
        if (bytes <= bytesMax && this.#volume.history.size <= filesMax) return;
        if (needed(content)) continue;
        bytes -= inode.content?.size ?? 0;
        this.#volume.forget(content);
      }
    });
  }

  checkMounts(): Promise<readonly ChangedMount[]> {
    return this.#whileAlive(async () => {
      await this.#call();
      return this.#volume.missing ? [] : this.#volume.mounts.check();
    });
  }

  acceptMount(path: string): Promise<void> {
    return this.#whileAlive(async () => {
      this.#life.effect();
      await this.#call();
      this.#volume.mounts.accept(path);
    });
  }

  health(): Promise<FolderHealth> {
    return this.#whileAlive(async () => {
      if (this.#volume.missing) return { ok: false, detail: 'The folder is gone.', freeBytes: 0 };
      return { ok: true, freeBytes: this.#volume.full ? 0 : freeBytes };
    });
  }

  stalledMs(): number {
    return 0;
  }

  async #observe({ path, expected, hashLarge, bytesMax, tail }: ObserveRequest): Promise<Observation> {
    await this.#call();
    if (this.#volume.missing) return { path, state: 'problem', code: 'folder-missing', detail: 'The folder is gone.' };
    const mount = this.#volume.mounts.changed(path);
    if (mount !== undefined) return { path, state: 'problem', ...mountChanged(mount) };
    const inode = isStatePath(path) ? undefined : this.#volume.disk.at(path);
    if (inode === undefined) return { path, state: 'absent' };
    const fingerprint = fingerprintOf(inode);
    if (expected !== undefined && sameFingerprint(fingerprint, expected)) return { path, state: 'same' };
    if (inode.type === 'special') return { path, state: 'special' };
    if (inode.type === 'directory') return { path, state: 'directory', fingerprint };
    const mtimeUs = mtimeUsOf(inode);
    if (inode.type === 'symlink') return { path, state: 'symlink', fingerprint, mtimeUs, target: inode.target ?? '' };
    if (fingerprint.size > hashUnderLockBytesMax && hashLarge !== true) return { path, state: 'large', fingerprint };
    return this.#readFile(path, inode, { bytesMax, tail });
  }

  /** Reads between two stats, as the real adapter does: a change within one step of the file times goes unnoticed. */
  async #readFile(
    path: string,
    inode: Inode,
    { bytesMax = inlineBytesMax, tail }: Pick<ObserveRequest, 'bytesMax' | 'tail'>,
  ): Promise<Observation> {
    const fingerprint = fingerprintOf(inode);
    const before = inode.content;
    await this.#call();
    const content = this.#random.chance(0.5) ? before : inode.content;
    if (content === undefined || !sameFingerprint(fingerprintOf(inode), fingerprint))
      return { path, state: 'changing' };
    const inline = content.size <= bytesMax ? content.parts[0]?.slice() : undefined;
    return {
      path,
      state: 'file',
      fingerprint,
      mtimeUs: mtimeUsOf(inode),
      racy: isRacy(inode, this.#wallMs()),
      content: content.id,
      ...(content.blocks && { blocks: content.blocks }),
      ...(inline && { bytes: inline }),
      ...(tail && { endsInZeros: isZeros(content), isZeros: isZeros(content) }),
    };
  }

  /** Simulated state lies outside the simulated folder: whatever is called so in it is another member's. */
  #list(path: string, skip: (path: string, isDirectory: boolean) => boolean): ScannedDirectory {
    const nothing = { path, entries: [], skipped: [] };
    if (this.#volume.missing) return { ...nothing, problem: { code: 'folder-missing', detail: 'The folder is gone.' } };
    const mount = path === '' ? undefined : this.#volume.mounts.changed(path);
    if (mount !== undefined) return { ...nothing, problem: mountChanged(mount) };
    const directory = this.#volume.disk.at(path);
    if (directory?.children === undefined) return { ...nothing, absent: true };
    this.#watcher.watch(directory, path);
    const entries: ScannedEntry[] = [];
    const skipped: ScannedDirectory['skipped'][number][] = [];
    for (const name of directory.children.keys()) {
      const inode = this.#volume.disk.at(joinPath(path, name));
      if (inode === undefined) continue;
      const { type } = inode;
      if (isStateName(name)) skipped.push({ name, code: 'path-reserved' });
      else if (type === 'special') skipped.push({ name, code: 'path-special' });
      else if (!skip(joinPath(path, name), type === 'directory'))
        entries.push({ name, type, fingerprint: fingerprintOf(inode) });
    }
    return { path, entries, skipped };
  }

  #changedMount({ action }: ActionRequest): ActionResult | undefined {
    for (const path of 'path' in action ? [action.path] : [action.from, action.to]) {
      const mount = this.#volume.mounts.changed(path);
      if (mount !== undefined) return { result: 'problem', ...mountChanged(mount) };
    }
    return undefined;
  }

  /** The time of one system call, in which others run. */
  async #call(): Promise<void> {
    await this.#scheduler.pause(this.#random.unit() ** 4 * this.#callMsMax, this.#life);
  }

  /** A promise of a crashed agent never settles. */
  #whileAlive<T>(body: () => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      body().then(
        (value) => {
          if (this.#life.alive) resolve(value);
        },
        (error) => {
          if (this.#life.alive) reject(error);
        },
      );
    });
  }
}

function describe({ action }: ActionRequest): string {
  return 'path' in action ? `${action.do} ${action.path}` : `${action.do} ${action.from} to ${action.to}`;
}

function mountChanged(mount: string): {
  readonly code: 'mount-changed';
  readonly detail: string;
  readonly mount: string;
} {
  return { code: 'mount-changed', detail: `Another disk than before is at ${mount}.`, mount };
}
