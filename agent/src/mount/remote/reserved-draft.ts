import type { Draft, EntryStat, Published, Soon, VersionId } from '../ports/access.ts';
import { after } from '../soon.ts';
import type { RoomReserver } from './room-reserver.ts';
import { SharedBlocks } from './shared-blocks.ts';

interface DraftParts {
  readonly reserver: RoomReserver;
  /** Its file, for the sentence that says that there is no room. */
  readonly path: string;
  /** Its first size: that of the version that it copies. */
  readonly bytes: number;
}

/** A draft that takes room in the cache as it grows. The blocks that it shares with the copied version take none until they are written. */
export class ReservedDraft implements Draft {
  readonly #draft: Draft;
  readonly #reserver: RoomReserver;
  readonly #path: string;
  readonly #shared: SharedBlocks;
  /** The size for which it has room, with what it shares. */
  #size: number;

  private constructor(draft: Draft, { reserver, path, bytes }: DraftParts, shared: SharedBlocks) {
    this.#draft = draft;
    this.#reserver = reserver;
    this.#path = path;
    this.#shared = shared;
    this.#size = bytes;
  }

  /** `draft` calls its argument before it copies bytes. */
  static async make(
    draft: (beforeCopy: () => Soon<void>) => Promise<Draft>,
    parts: DraftParts,
  ): Promise<ReservedDraft> {
    const { reserver, path, bytes } = parts;
    let isCopied = false;
    const beforeCopy = (): Soon<void> =>
      after(reserver.take(path, bytes), () => {
        isCopied = true;
      });
    try {
      const made = await draft(beforeCopy);
      return new ReservedDraft(made, parts, new SharedBlocks(isCopied ? 0 : bytes));
    } catch (error) {
      if (isCopied) reserver.giveBack(bytes);
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
    const end = offset + bytes.length;
    const grown = after(this.#take(end, this.#shared.bytesIn(offset, end)), () => this.#shared.written(offset, end));
    return after(grown, () => this.#draft.write(bytes, offset)) as Soon<number>;
  }

  truncate(size: number): Soon<void> {
    const truncated = after(this.#take(size, 0), () => this.#draft.truncate(size)) as Soon<void>;
    return after(truncated, () => {
      if (size >= this.#size) return;
      const before = this.#taken;
      this.#shared.truncate(size);
      this.#size = size;
      this.#reserver.giveBack(before - this.#taken);
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
    const { inode, birthMs } = published.opened.stat();
    this.#reserver.published({ path: published.conflictPath ?? path, inode, birthMs, bytes: this.#forget() });
    return published;
  }

  drop(): void {
    this.#draft.drop();
    this.#reserver.giveBack(this.#forget());
  }

  /** The bytes that it has taken of the room. */
  get #taken(): number {
    return this.#size - this.#shared.bytes;
  }

  /** Takes room for a size, and for `own` bytes that are not shared any more. */
  #take(size: number, own: number): Soon<void> {
    const more = Math.max(0, size - this.#size) + own;
    if (more === 0) return;
    return after(this.#reserver.take(this.#path, more), () => {
      this.#size = Math.max(size, this.#size);
    });
  }

  /** Ends its part of the room, and returns what that was. */
  #forget(): number {
    const taken = this.#taken;
    this.#shared.truncate(0);
    this.#size = 0;
    return taken;
  }
}
