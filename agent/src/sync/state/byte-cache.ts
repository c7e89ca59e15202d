import type { ContentId } from '@lockstep/shared';
import { LRUCache } from 'lru-cache';

/** Small contents by id, oldest dropped first when there are more than `bytesMax` bytes of them. Dropping loses nothing: it can be read or asked for again. */
export class ByteCache {
  readonly #contents: LRUCache<ContentId, Uint8Array>;
  /** Those that were there when `age` was last called, and were not put since. */
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

  /** Drops the oldest until there are less than `bytes`. */
  shrink(bytes: number): void {
    while (this.#contents.size > 0 && this.bytes >= bytes) this.#contents.pop();
  }

  /** Drops what was there at the last call already. */
  age(): void {
    for (const content of this.#aged) this.#contents.delete(content);
    this.#aged = new Set(this.#contents.keys());
  }

  /** Looks at `count` of them, those first that were not looked at for longest, and drops what nobody needs any more. */
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
