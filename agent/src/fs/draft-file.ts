import { blockBytes } from '@lockstep/shared';
import { blockHashBytes } from '../core/blocks.ts';
import type { Draft, DraftContent } from '../sync/ports/folder.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** A draft that the workers write. It keeps the hashes of its blocks in memory: 32 bytes for each MiB. */
export class DraftFile implements Draft {
  readonly name: string;
  readonly #workers: JobRunner;
  readonly #hashes: Uint8Array[] = [];
  #size = 0;

  constructor(workers: JobRunner, name: string) {
    this.#workers = workers;
    this.name = name;
  }

  async add(bytes: Uint8Array): Promise<'ok' | 'disk-full' | 'lost'> {
    const index = this.#hashes.length;
    if (bytes.length > blockBytes || this.#size !== index * blockBytes) {
      throw new RangeError('only the last block of a draft may be shorter than the others');
    }
    const copy = new Uint8Array(bytes);
    const size = this.#size + copy.length;
    const written = await this.#workers.run('writeDraft', { name: this.name, index, bytes: copy }, 'background', [
      copy.buffer,
    ]);
    if (typeof written === 'string') return written;
    this.#hashes.push(written);
    this.#size = size;
    return 'ok';
  }

  async finish(): Promise<DraftContent | undefined> {
    // An empty file has one empty block.
    if (this.#hashes.length === 0 && (await this.add(new Uint8Array())) !== 'ok') return undefined;
    const blocks = new Uint8Array(this.#hashes.length * blockHashBytes);
    for (const [index, hash] of this.#hashes.entries()) blocks.set(hash, index * blockHashBytes);
    const size = this.#size;
    const hashed = await this.#workers.run('finishDraft', { name: this.name, blocks, size }, 'background');
    return hashed === 'lost' ? undefined : { ...hashed, size };
  }

  async drop(): Promise<void> {
    await this.#workers.run('dropDraft', this.name, 'background');
  }
}
