import { blockBytes } from '@lockstep/shared';
import { blockHashBytes, hashOfBlock } from '../core/blocks.ts';
import type { CopiedFile, Draft, DraftContent } from '../sync/ports/folder.ts';
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

  async copy({
    path,
    fingerprint,
    content,
    blocks,
    size,
  }: CopiedFile): Promise<'ok' | 'disk-full' | 'lost' | 'source-gone'> {
    // A copy: a view would send its whole buffer to the worker.
    const file = { path, fingerprint, content, blocks: blocks && new Uint8Array(blocks), size };
    const hashes = await this.#workers.run('copyDraft', { name: this.name, file }, 'background');
    if (typeof hashes === 'string') return hashes;
    for (let index = 0; index * blockHashBytes < hashes.length; index++) this.#hashes.push(hashOfBlock(hashes, index));
    this.#size = size;
    return 'ok';
  }

  async add(bytes: Uint8Array, index = this.#hashes.length): Promise<'ok' | 'disk-full' | 'lost'> {
    const start = index * blockBytes;
    const isShorter = start + bytes.length < Math.min(this.#size, start + blockBytes);
    if (bytes.length > blockBytes || start > this.#size || isShorter) {
      throw new RangeError('only the last block of a draft may be shorter than the others');
    }
    const copy = new Uint8Array(bytes);
    const size = Math.max(this.#size, start + copy.length);
    const block = { name: this.name, index, bytes: copy, isFirst: this.#hashes.length === 0 };
    const written = await this.#workers.run('writeDraft', block, 'background', [copy.buffer]);
    if (typeof written === 'string') return written;
    this.#hashes[index] = written;
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
