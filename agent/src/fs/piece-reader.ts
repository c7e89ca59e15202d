import { RecentMap } from '../core/recent-map.ts';
import type { BlockSource, PieceReader, SoughtChunks } from '../sync/ports/pieces.ts';
import { expectedBlock } from './read/content-id.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** Recipes kept, those that were used last: several members ask for the same ones. Each has about 1.3 KB. */
const recipesMax = 2_048;

/** Reads contents that moved, in the workers of a folder. */
export class DiskPieces implements PieceReader {
  readonly #workers: JobRunner;
  readonly #recipes = new RecentMap<string, Promise<Uint8Array | undefined>>(recipesMax);

  constructor(workers: JobRunner) {
    this.#workers = workers;
  }

  async recipe(block: BlockSource): Promise<Uint8Array | undefined> {
    const key = `${block.content} ${block.index}`;
    const known = this.#recipes.get(key);
    if (known !== undefined) return await known;
    const made = this.#workers.run('recipe', { block: expectedBlock(block), source: block.source });
    this.#recipes.set(key, made);
    // One that could not be read may be there again later.
    const recipe = await made.catch(() => undefined);
    if (recipe === undefined) this.#recipes.delete(key);
    return await made;
  }

  async chunks(range: Parameters<PieceReader['chunks']>[0]): Promise<Uint8Array | undefined> {
    return await this.#workers.run('chunks', range, 'background');
  }

  async find(sought: SoughtChunks): Promise<readonly Float64Array[]> {
    return await this.#workers.run('findPieces', sought, 'background');
  }
}
