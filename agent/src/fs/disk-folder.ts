import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import type { ContentId } from '@lockstep/shared';
import type {
  ActionRequest,
  ActionResult,
  ContentSource,
  Folder,
  FolderHealth,
  Observation,
  ObserveRequest,
  ScannedDirectory,
  UnwatchedDirectory,
  WatchHint,
} from '../sync/ports/folder.ts';
import type { Log } from '../sync/ports/log.ts';
import type { ContentDescription } from './block-store.ts';
import { expectedBlock } from './content-id.ts';
import type { ApplyStep } from './fault-point.ts';
import { trimHistory } from './history-trim.ts';
import { packRequests } from './packed-requests.ts';
import { folderMissing } from './path-problem.ts';
import type { DirectoryIdentity, Places } from './places.ts';
import { type ScanOptions, scan } from './scan.ts';
import { type StageBlockRequest, StagedContents } from './staged-contents.ts';
import { Watcher } from './watcher.ts';
import { WorkerPool } from './worker-pool.ts';

export interface DiskFolderOptions {
  readonly places: Places;
  readonly log: Log;
  readonly onFatal?: ((error: Error) => void) | undefined;
  readonly faultPoint?: ((step: ApplyStep) => void) | undefined;
}

/** The folder port over a real folder. Everything that reads or writes more than a few numbers happens in worker threads. */
export class DiskFolder implements Folder {
  readonly #places: Places;
  readonly #log: Log;
  readonly #workers: WorkerPool;
  readonly #staged: StagedContents;
  #watcher: Watcher | undefined;

  /** Use `openFolder`. */
  constructor(options: DiskFolderOptions) {
    this.#places = options.places;
    this.#log = options.log;
    this.#workers = new WorkerPool({
      places: options.places,
      faultPoint: options.faultPoint,
      onFatal: (error) => {
        this.#log.error({ error: String(error) }, 'a worker of the folder ended');
        options.onFatal?.(error);
      },
    });
    this.#staged = new StagedContents(this.#workers);
  }

  async watch(hint: (hints: readonly WatchHint[]) => void): Promise<void> {
    await this.#watcher?.close();
    this.#watcher = new Watcher({ places: this.#places, log: this.#log, hint });
    this.#watcher.watch('');
  }

  unwatched(): readonly UnwatchedDirectory[] {
    return this.#watcher?.unwatched() ?? [];
  }

  async flushHints(): Promise<boolean> {
    return (await this.#watcher?.flush()) ?? false;
  }

  observe(requests: readonly ObserveRequest[]): Promise<readonly Observation[]> {
    // Reading a large file takes seconds: what the folder lock waits for must not queue behind it.
    const lane = requests.some(({ hashLarge }) => hashLarge) ? 'second' : 'either';
    return this.#workers.run('observe', requests, lane);
  }

  scan(directory: string, options: ScanOptions): AsyncIterable<readonly ScannedDirectory[]> {
    return scan(this.#workers, this.#watcher, directory, options);
  }

  async apply(requests: readonly ActionRequest[]): Promise<readonly ActionResult[]> {
    const ready = requests.filter((request) => this.#isReady(request));
    const { packed, buffer } = packRequests(ready);
    for (const { action } of ready) if (action.do === 'rename-directory') this.#watcher?.moving(action.from);
    const results = ready.length === 0 ? [] : await this.#workers.run('apply', packed, 'first', [buffer]);
    let next = 0;
    const all = requests.map((request): ActionResult => {
      if (ready[next] !== request) return { result: 'source-gone' };
      return results[next++] ?? { result: 'changed' };
    });
    this.#follow(requests, all);
    return all;
  }

  stageBlock(request: StageBlockRequest): Promise<'ok' | 'corrupt' | 'disk-full'> {
    return this.#staged.stage(request);
  }

  unstage(content: ContentId): Promise<void> {
    return this.#staged.drop(content);
  }

  async readBlock(
    request: ContentDescription & { readonly index: number; readonly source: ContentSource },
  ): Promise<Uint8Array | undefined> {
    const { source } = request;
    if (source.from !== 'file' && source.from !== 'history') return undefined;
    return await this.#workers.run('readBlock', { block: expectedBlock(request), source });
  }

  async inHistory(contents: readonly ContentId[]): Promise<ReadonlySet<ContentId>> {
    if (contents.length === 0) return new Set();
    return new Set(await this.#workers.run('inHistory', contents));
  }

  keep(request: ContentDescription & { readonly source: ContentSource }): Promise<boolean> {
    const { content, size, source } = request;
    if (source.from === 'staged' && !this.#staged.isComplete(content)) return Promise.resolve(false);
    // Copies, as a view would take all that it is a view of along to the worker.
    const blocks = request.blocks && new Uint8Array(request.blocks);
    const copied: ContentSource =
      source.from === 'bytes' ? { from: 'bytes', bytes: new Uint8Array(source.bytes) } : source;
    return this.#workers.run('keep', { content, blocks, size, source: copied }, 'second');
  }

  trimHistory(bytesMax: number, needed: (content: ContentId) => boolean): Promise<void> {
    return trimHistory(this.#workers, bytesMax, needed);
  }

  async health(): Promise<FolderHealth> {
    const { root, rootIdentity, state, stateIdentity } = this.#places;
    const [rootThere, stateThere] = await Promise.all([isThere(root, rootIdentity), isThere(state, stateIdentity)]);
    if (!rootThere || !stateThere) return { ok: false, detail: folderMissing.detail, freeBytes: 0 };
    try {
      const { bavail, bsize } = await statfs(root);
      const freeBytes = bavail * bsize;
      const writable = await Promise.all([root, state].map(isWritable));
      if (writable.every(Boolean)) return { ok: true, freeBytes };
      const detail = `The folder ${root} cannot be written: give the agent's user permission, or mount it writable.`;
      return { ok: false, detail, freeBytes };
    } catch (error) {
      return { ok: false, detail: `The folder ${root} cannot be read: ${String(error)}`, freeBytes: 0 };
    }
  }

  /** Stops watching, lets what was begun come to its end, and ends the workers. */
  async close(): Promise<void> {
    await this.#watcher?.close();
    await this.#workers.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #isReady({ action }: ActionRequest): boolean {
    return action.do !== 'write' || action.source.from !== 'staged' || this.#staged.isComplete(action.content);
  }

  /** Keeps watches and staged contents in step with what was done. */
  #follow(requests: readonly ActionRequest[], results: readonly ActionResult[]): void {
    const takers = new Map<ContentId, boolean>();
    for (const [index, { action }] of requests.entries()) {
      const isDone = results[index]?.result === 'done';
      // The last write of a staged content takes its very file, those before it copy it (see Staging).
      if (action.do === 'write' && action.source.from === 'staged') takers.set(action.content, isDone);
      if (action.do === 'rename-directory') this.#watcher?.moved(action.from, isDone ? action.to : undefined);
      if (!isDone) continue;
      if (action.do === 'mkdir') this.#watcher?.watch(action.path);
      else if (action.do === 'rmdir') this.#watcher?.forget(action.path);
    }
    for (const [content, isTaken] of takers) if (isTaken) this.#staged.consumed(content);
  }
}

async function isThere(path: string, identity: DirectoryIdentity): Promise<boolean> {
  try {
    const stats = await stat(path);
    return stats.isDirectory() && stats.dev === identity.dev && stats.ino === identity.ino;
  } catch {
    return false;
  }
}

async function isWritable(path: string): Promise<boolean> {
  try {
    await access(path, constants.W_OK | constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
