import type { Draft, EntryStat, Published, Soon, VersionId } from '../ports/access.ts';
import { after } from '../soon.ts';
import type { RoomReserver } from './room-reserver.ts';

/** A draft that takes room in the cache as it grows. */
export class ReservedDraft implements Draft {
  readonly #draft: Draft;
  readonly #reserver: RoomReserver;
  /** Its file, for the sentence that says that there is no room. */
  readonly #path: string;
  /** The size for which it has room. */
  #bytes: number;

  private constructor(
    draft: Draft,
    parts: { readonly reserver: RoomReserver; readonly path: string; readonly bytes: number },
  ) {
    this.#draft = draft;
    this.#reserver = parts.reserver;
    this.#path = parts.path;
    this.#bytes = parts.bytes;
  }

  /** `bytes`: its first size. */
  static async make(
    draft: () => Promise<Draft>,
    parts: { readonly reserver: RoomReserver; readonly path: string; readonly bytes: number },
  ): Promise<ReservedDraft> {
    const { reserver, path, bytes } = parts;
    if (bytes > 0) await reserver.take(path, bytes);
    try {
      return new ReservedDraft(await draft(), parts);
    } catch (error) {
      reserver.giveBack(bytes);
      throw error;
    }
  }

  stat(): EntryStat {
    return this.#draft.stat();
  }

  read(buffer: Uint8Array, offset: number): number {
    return this.#draft.read(buffer, offset);
  }

  write(bytes: Uint8Array, offset: number): Soon<number> {
    return after(this.#grow(offset + bytes.length), () => this.#draft.write(bytes, offset)) as Soon<number>;
  }

  truncate(size: number): Soon<void> {
    const truncated = after(this.#grow(size), () => this.#draft.truncate(size)) as Soon<void>;
    return after(truncated, () => {
      if (size >= this.#bytes) return;
      this.#reserver.giveBack(this.#bytes - size);
      this.#bytes = size;
    });
  }

  setMode(mode: number): void {
    this.#draft.setMode(mode);
  }

  setTimes(atimeMs: number, mtimeMs: number): void {
    this.#draft.setTimes(atimeMs, mtimeMs);
  }

  sync(): Promise<void> {
    return this.#draft.sync();
  }

  async publish(path: string, expected: VersionId | undefined): Promise<Published> {
    const published = await this.#draft.publish(path, expected);
    const { inode } = published.opened.stat();
    this.#reserver.published({ path: published.conflictPath ?? path, inode, bytes: this.#bytes });
    this.#bytes = 0;
    return published;
  }

  drop(): void {
    this.#draft.drop();
    this.#reserver.giveBack(this.#bytes);
    this.#bytes = 0;
  }

  #grow(size: number): Soon<void> {
    if (size <= this.#bytes) return;
    return after(this.#reserver.take(this.#path, size - this.#bytes), () => {
      this.#bytes = size;
    });
  }
}
