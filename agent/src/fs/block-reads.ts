import { blockRange } from '../core/blocks.ts';
import type { BlockBuffers } from '../os/block-buffers.ts';
import type { BlockSource } from '../sync/ports/pieces.ts';
import { expectedBlock } from './read/content-id.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** Reads blocks in workers. A large one is read into shared memory, so that it is neither copied nor garbage. */
export class BlockReads {
  readonly #workers: JobRunner;
  readonly #buffers: BlockBuffers;

  constructor(workers: JobRunner, buffers: BlockBuffers) {
    this.#workers = workers;
    this.#buffers = buffers;
  }

  async read(block: BlockSource): Promise<Uint8Array | undefined> {
    const into = this.#buffers.take(blockRange(block.size, block.index).length);
    if (!(into.buffer instanceof SharedArrayBuffer)) return (await this.readAll([block]))[0];
    const [result] = await this.#workers.run('readBlocks', [{ ...jobOf(block), into }]);
    if (result !== undefined) return into;
    this.#buffers.giveBack(into);
    return undefined;
  }

  async readAll(blocks: readonly BlockSource[]): Promise<readonly (Uint8Array | undefined)[]> {
    const results = await this.#workers.run('readBlocks', blocks.map(jobOf));
    return results.map((bytes) => (bytes === 'filled' ? undefined : bytes));
  }

  async holds(block: BlockSource): Promise<boolean> {
    return await this.#workers.run('holdsBlock', jobOf(block), 'background');
  }
}

function jobOf(block: BlockSource) {
  return { block: expectedBlock(block), source: block.source };
}
