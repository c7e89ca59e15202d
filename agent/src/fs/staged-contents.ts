import type { ContentId } from '@lockstep/shared';
import { blockCount } from '../core/blocks.ts';
import { expectedBlock, fitsContent } from './read/content-id.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** The staged blocks of one content. */
interface Gathered {
  readonly present: Uint8Array;
  missing: number;
  /** Settles when all earlier requests for this content are done. */
  tail: Promise<unknown>;
}

export interface StageBlockRequest {
  readonly content: ContentId;
  readonly blocks?: Uint8Array | undefined;
  readonly size: number;
  readonly index: number;
  readonly bytes: Uint8Array;
}

/** The verified blocks in staging, by content. */
export class StagedContents {
  readonly #workers: JobRunner;
  readonly #contents = new Map<ContentId, Gathered>();

  constructor(workers: JobRunner) {
    this.#workers = workers;
  }

  /** True if all blocks of a content are staged. */
  isComplete(content: ContentId): boolean {
    return this.#contents.get(content)?.missing === 0;
  }

  /** The file got its name in the folder. */
  consumed(content: ContentId): void {
    this.#contents.delete(content);
  }

  async stage(request: StageBlockRequest): Promise<'ok' | 'corrupt' | 'disk-full' | 'lost'> {
    const { content, blocks, size, index, bytes } = request;
    const gathered = this.#contents.get(content) ?? begin(request);
    // The list of hashes is checked once. Each block is then checked against its own hash.
    if (gathered === undefined || index < 0 || index >= gathered.present.length) return 'corrupt';
    this.#contents.set(content, gathered);
    const block = expectedBlock({ content, blocks, size, index });
    const copy = new Uint8Array(bytes);
    const job = gathered.tail
      .then(() => {
        const isFirst = gathered.missing === gathered.present.length;
        return this.#workers.run('stageBlock', { block, bytes: copy, isFirst }, 'background', [copy.buffer]);
      })
      .then((outcome) => {
        // The next block starts a new file.
        if (outcome === 'lost' && this.#contents.get(content) === gathered) this.#contents.delete(content);
        if (outcome === 'ok' && gathered.present[index] === 0) {
          gathered.present[index] = 1;
          gathered.missing -= 1;
        }
        return outcome;
      });
    gathered.tail = job.catch(() => undefined);
    return await job;
  }

  async drop(content: ContentId): Promise<void> {
    const gathered = this.#contents.get(content);
    this.#contents.delete(content);
    await gathered?.tail;
    // A new request may have started meanwhile: its blocks must stay.
    if (!this.#contents.has(content)) await this.#workers.run('unstage', content, 'background');
  }
}

function begin({ content, blocks, size }: StageBlockRequest): Gathered | undefined {
  if (!fitsContent(content, blocks, size)) return undefined;
  const count = blockCount(size);
  return { present: new Uint8Array(count), missing: count, tail: Promise.resolve() };
}
