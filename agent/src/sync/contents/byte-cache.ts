import type { ContentId } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';

/** A cache of small contents by id. Above `bytesMax` bytes the oldest are dropped; each can be read or requested again. */
export class ByteCache {
  readonly #contents: LRUCache<ContentId, Uint8Array>;
  /** Contents that the last `age` found and that were not put since. */
  #aged = new Set<ContentId>();

  constructor(bytesMax: number) {
    // The cache takes no size of 0.
    this.#contents = new LRUCache({ maxSize: bytesMax, sizeCalculation: ({ length }) => Math.max(1, length) });
  }

  get bytes(): number {
    return this.#contents.calculatedSize;
  }

  put(content: ContentId, bytes: Uint8Array): void {
    this.#aged.delete(content);
    this.#contents.set(content, bytes);
  }

  get(content: ContentId): Uint8Array | undefined {
    return this.#contents.peek(content);
  }

  /** Drops the oldest contents until fewer than `bytes` bytes are left. */
  shrink(bytes: number): void {
    while (this.#contents.size > 0 && this.bytes >= bytes) this.#contents.pop();
  }

  /** Drops the contents that were already there at the previous call. */
  age(): void {
    for (const content of this.#aged) this.#contents.delete(content);
    this.#aged = new Set(this.#contents.keys());
  }

  /** Checks `count` contents, the least recently checked first, and drops those that are not needed any more. */
  sweep(count: number, isNeeded: (content: ContentId) => boolean): void {
    for (const content of [...this.#contents.rkeys()].slice(0, count)) {
      if (isNeeded(content)) this.#contents.get(content);
      else this.#contents.delete(content);
    }
  }

  delete(content: ContentId): void {
    this.#contents.delete(content);
  }
}
