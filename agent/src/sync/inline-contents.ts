import type { ContentId } from '@lockstep/shared';

/** Small contents by id, oldest dropped first when there are more than `bytesMax` bytes of them. Dropping loses nothing: it can be read or asked for again. */
export class InlineContents {
  readonly #bytesMax: number;
  readonly #contents = new Map<ContentId, Uint8Array>();
  #bytes = 0;

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
    for (const oldest of this.#contents.keys()) {
      if (this.#bytes <= this.#bytesMax) break;
      this.delete(oldest);
    }
  }

  get(content: ContentId): Uint8Array | undefined {
    return this.#contents.get(content);
  }

  delete(content: ContentId): void {
    const bytes = this.#contents.get(content);
    if (bytes === undefined) return;
    this.#contents.delete(content);
    this.#bytes -= bytes.length;
  }
}
