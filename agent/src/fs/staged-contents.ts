import { blockBytes, type ContentId } from '@lockstep/shared';
import { blockCount } from '../core/blocks.ts';
import type { BlockBuffers } from '../os/block-buffers.ts';
import { errorCodeOf } from '../os/system-error.ts';
import type { BlockCopy } from '../sync/ports/folder.ts';
import type { ArrivedBlock, ContentDescription, StageBlockOutcome, StagedCopies } from './apply/block-store.ts';
import { expectedBlock, fitsContent } from './read/content-id.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** The most blocks that are written, and read, in one job of a worker: about 20 ms, because other jobs wait for it. */
const stagedAtOnce = 8;
const foundAtOnce = 32;

/**
 * A larger content is made durable by pieces of this size while it arrives. All of it at the end would keep the disk busy for seconds, in which
 * every small file waits for its own fsync. docs/BENCHMARKS.md has the figures.
 */
const syncedAtOnceBytes = 16 * 1_024 * 1_024;

/** The staged blocks of one content. */
interface Gathered {
  readonly present: Uint8Array;
  missing: number;
  /** Its file was made. */
  isBegun: boolean;
  /** The bytes written since the last sync began. */
  unsyncedBytes: number;
  /** Settles when the last sync has ended. Undefined before the first one. */
  syncing: Promise<void> | undefined;
  /** The error of a failed sync. The kernel reports a failed write only once: none of the bytes count as durable then. */
  failure: unknown;
  /** Blocks that came while earlier ones are being written. */
  readonly waiting: WaitingBlock[];
}

interface WaitingBlock extends ArrivedBlock {
  readonly staged: (outcome: StageBlockOutcome) => void;
  readonly failed: (error: unknown) => void;
}

export interface StageBlockRequest {
  /** The file for which. */
  readonly path: string;
  readonly content: ContentId;
  readonly blocks?: Uint8Array | undefined;
  readonly size: number;
  readonly index: number;
  readonly bytes: Uint8Array;
}

export interface StagedContentsOptions {
  readonly workers: JobRunner;
  readonly buffers: BlockBuffers;
  /** Makes the staging file of a content durable. Rejects if it cannot. */
  readonly syncStaged: (content: ContentId) => Promise<void>;
  /** Contents of which an earlier agent left blocks. */
  readonly left: readonly ContentId[];
  readonly syncedAtOnceBytes?: number | undefined;
}

export interface StageCopiesRequest extends ContentDescription {
  readonly path: string;
  readonly copies: readonly BlockCopy[];
}

/**
 * The verified blocks in staging, by content. The jobs of one content share a file and run one after the other: a file that an action takes
 * must not be begun again meanwhile.
 */
export class StagedContents {
  readonly #workers: JobRunner;
  readonly #buffers: BlockBuffers;
  readonly #syncStaged: (content: ContentId) => Promise<void>;
  readonly #syncedAtOnceBytes: number;
  readonly #contents = new Map<ContentId, Gathered>();
  readonly #left: Set<ContentId>;
  /** Settles when all jobs of the content so far are done. */
  readonly #tails = new Map<ContentId, Promise<unknown>>();
  /** Settles when all syncs so far have ended. One at a time: on a disk that hangs they must not take all threads of Node's pool. */
  #lastSync: Promise<void> = Promise.resolve();

  constructor(options: StagedContentsOptions) {
    const { workers, buffers, syncStaged, left } = options;
    this.#workers = workers;
    this.#buffers = buffers;
    this.#syncStaged = syncStaged;
    this.#left = new Set(left);
    this.#syncedAtOnceBytes = options.syncedAtOnceBytes ?? syncedAtOnceBytes;
  }

  /** True if all blocks of a content are staged, and the disk refused none. */
  isComplete(content: ContentId): boolean {
    const gathered = this.#contents.get(content);
    return gathered?.missing === 0 && gathered.failure === undefined;
  }

  /** The error with which the disk refused staged bytes of a content, until that is dropped. Undefined if there was none. */
  failure(content: ContentId): unknown {
    return this.#contents.get(content)?.failure;
  }

  /** Runs a job that uses the files of these contents, after all earlier jobs with them and before all later ones. */
  use<T>(contents: Iterable<ContentId>, job: () => Promise<T>): Promise<T> {
    const used = [...contents];
    const turn = Promise.all(used.map((content) => this.#tails.get(content))).then(job);
    const tail = turn.then(
      () => undefined,
      () => undefined,
    );
    for (const content of used) this.#tails.set(content, tail);
    void tail.then(() => {
      for (const content of used) if (this.#tails.get(content) === tail) this.#tails.delete(content);
    });
    return turn;
  }

  /** The file got its name in the folder. */
  consumed(content: ContentId): void {
    this.#contents.delete(content);
  }

  /** Stages a block, and gives the memory of its bytes back. */
  async stage(request: StageBlockRequest): Promise<StageBlockOutcome> {
    const { path, content, blocks, size, index, bytes } = request;
    const gathered = this.#contents.get(content) ?? begin(request);
    // The list of hashes is checked once. Each block is then checked against its own hash.
    if (gathered === undefined || index < 0 || index >= gathered.present.length) {
      this.#buffers.giveBack(bytes);
      return 'corrupt';
    }
    this.#contents.set(content, gathered);
    const block = expectedBlock({ content, blocks, size, index });
    return await new Promise((staged, failed) => {
      gathered.waiting.push({ path, block, bytes, staged, failed });
      if (gathered.waiting.length === 1) this.#stageWaiting(content, gathered);
    });
  }

  /** Stages the waiting blocks when their turn comes, several in one job: waking a thread for each would delay each. */
  #stageWaiting(content: ContentId, gathered: Gathered): void {
    void this.use([content], async () => {
      const some = gathered.waiting.splice(0, stagedAtOnce);
      if (gathered.waiting.length > 0) this.#stageWaiting(content, gathered);
      try {
        const outcomes = await this.#writeBlocks(some, !gathered.isBegun);
        for (const { bytes } of some) this.#buffers.giveBack(bytes);
        for (const [position, { block }] of some.entries()) {
          const outcome = outcomes[position] ?? 'lost';
          if (outcome === 'lost') this.#forget(content, gathered);
          if (outcome === 'ok') {
            gathered.isBegun = true;
            add(gathered, [block.index]);
          }
        }
        await this.#written(content, gathered, outcomes.filter((outcome) => outcome === 'ok').length);
        for (const [position, { staged }] of some.entries()) staged(outcomes[position] ?? 'lost');
      } catch (error) {
        for (const { failed } of some) failed(error);
      }
    });
  }

  /** Blocks were written. Waits while the disk is busy with the ones before, and for the last ones of a content that is synced in pieces. */
  async #written(content: ContentId, gathered: Gathered, blocks: number): Promise<void> {
    gathered.unsyncedBytes += blocks * blockBytes;
    const isLast = gathered.missing === 0 && gathered.syncing !== undefined;
    if (gathered.unsyncedBytes < this.#syncedAtOnceBytes && !isLast) return;
    await gathered.syncing;
    gathered.unsyncedBytes = 0;
    gathered.syncing = this.#sync(content, gathered);
    if (gathered.missing === 0) await gathered.syncing;
  }

  #sync(content: ContentId, gathered: Gathered): Promise<void> {
    const failed = (error: unknown): void => {
      // Another program removed the file.
      if (errorCodeOf(error) === 'ENOENT') this.#forget(content, gathered);
      else gathered.failure ??= error;
    };
    this.#lastSync = this.#lastSync.then(() => this.#syncStaged(content)).catch(failed);
    return this.#lastSync;
  }

  #writeBlocks(some: readonly ArrivedBlock[], isFirst: boolean): Promise<readonly StageBlockOutcome[]> {
    const copies: ArrayBuffer[] = [];
    const blocks = some.map(({ path, block, bytes }): ArrivedBlock => {
      // A worker reads shared memory where it is.
      if (bytes.buffer instanceof SharedArrayBuffer) return { path, block, bytes };
      const copy = new Uint8Array(bytes);
      copies.push(copy.buffer);
      return { path, block, bytes: copy };
    });
    return this.#workers.run('stageBlocks', { blocks, isFirst }, 'background', copies);
  }

  async stageCopies({ path, content, blocks, size, copies }: StageCopiesRequest): Promise<StagedCopies> {
    const gathered = this.#contents.get(content) ?? begin({ content, blocks, size });
    if (gathered === undefined) return { result: 'ok', added: [] };
    this.#contents.set(content, gathered);
    return await this.use([content], async () => {
      const zeros = copies.flatMap(({ index, from }) => (from === 'zeros' ? index : []));
      const stored = copies.flatMap(({ index, from }) =>
        from === 'zeros' ? [] : { block: expectedBlock({ content, blocks, size, index }), from },
      );
      const input = { path, copies: stored, isFirst: !gathered.isBegun };
      const { result, added } =
        stored.length === 0
          ? ({ result: 'ok', added: [] } as const)
          : await this.#workers.run('stageCopies', input, 'background');
      if (result === 'lost') {
        this.#forget(content, gathered);
        return { result, added: [] };
      }
      if (added.length > 0) gathered.isBegun = true;
      const all = [...zeros, ...added];
      add(gathered, all);
      await this.#written(content, gathered, added.length);
      return { result, added: all };
    });
  }

  /** The indices of the blocks that are staged. Those that an earlier agent left are verified first. */
  async present({ content, blocks, size }: ContentDescription): Promise<readonly number[]> {
    const gathered = this.#contents.get(content) ?? begin({ content, blocks, size });
    if (gathered === undefined) return [];
    this.#contents.set(content, gathered);
    if (this.#left.delete(content)) {
      await this.use([content], async () => {
        const all = Array.from({ length: blockCount(size) }, (_, index) => index);
        for (let from = 0; from < all.length; from += foundAtOnce) {
          const some = all.slice(from, from + foundAtOnce);
          const wanted = some.map((index) => expectedBlock({ content, blocks, size, index }));
          add(gathered, await this.#workers.run('findStaged', wanted, 'background'));
        }
        gathered.isBegun = gathered.missing < gathered.present.length;
      });
    }
    return [...gathered.present.keys()].filter((index) => gathered.present[index] === 1);
  }

  /** All staged blocks of a content are gone: the next block starts a new file. */
  #forget(content: ContentId, gathered: Gathered): void {
    if (this.#contents.get(content) === gathered) this.#contents.delete(content);
  }

  async drop(content: ContentId): Promise<void> {
    this.#left.delete(content);
    this.#contents.delete(content);
    await this.use([content], () => this.#workers.run('unstage', content, 'background'));
  }
}

function begin({ content, blocks, size }: ContentDescription): Gathered | undefined {
  if (!fitsContent(content, blocks, size)) return undefined;
  const count = blockCount(size);
  return {
    present: new Uint8Array(count),
    missing: count,
    isBegun: false,
    unsyncedBytes: 0,
    syncing: undefined,
    failure: undefined,
    waiting: [],
  };
}

function add(gathered: Gathered, indices: readonly number[]): void {
  for (const index of indices) {
    if (gathered.present[index] === 1) continue;
    gathered.present[index] = 1;
    gathered.missing -= 1;
  }
}
