import type { ContentId } from '@lockstep/shared';

/** Small contents by id, oldest dropped first when there are more than `bytesMax` bytes of them. Dropping loses nothing: it can be read or asked for again. */
export class ByteCache {
  readonly #bytesMax: number;
  readonly #contents = new Map<ContentId, Uint8Array>();
  #bytes = 0;
  /** Those that were there when `age` was last called, and were not put since. */
  #aged = new Set<ContentId>();

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  put(content: ContentId, bytes: Uint8Array): void {
    this.delete(content);
    this.#contents.set(content, bytes);
    this.#bytes += bytes.length;
    this.shrink(this.#bytesMax + 1);
  }

  get(content: ContentId): Uint8Array | undefined {
    return this.#contents.get(content);
  }

  /** Drops the oldest until there are less than `bytes`. */
  shrink(bytes: number): void {
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes < bytes) break;
      this.delete(oldest);
    }
  }

  /** Drops what was there at the last call already. */
  age(): void {
    for (const content of this.#aged) this.delete(content);
    this.#aged = new Set(this.#contents.keys());
  }

  /** Looks at `count` of them, those first that were not looked at for longest, and drops what nobody needs any more. */
  sweep(count: number, isNeeded: (content: ContentId) => boolean): void {
    for (const content of [...this.#contents.keys()].slice(0, count)) {
      const bytes = this.#contents.get(content);
      if (bytes === undefined || !isNeeded(content)) this.delete(content);
      else {
        this.#contents.delete(content);
        this.#contents.set(content, bytes);
      }
    }
  }

  delete(content: ContentId): void {
    const bytes = this.#contents.get(content);
    if (bytes === undefined) return;
    this.#contents.delete(content);
    this.#aged.delete(content);
    this.#bytes -= bytes.length;
  }
}
