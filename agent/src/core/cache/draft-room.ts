import { type Fingerprint, mayBeSameInode } from '../entry.ts';

/** A file that a program wrote through a mount, and that is in the folder. */
export interface PublishedFile {
  readonly path: string;
  readonly inode: number;
  readonly birthMs?: number | undefined;
  readonly bytes: number;
}

/** True if the journaled file with this fingerprint is that file. The disk uses the inode of a replaced file again at once. */
export function isPublished(journaled: Fingerprint | undefined, { inode: ino, birthMs }: PublishedFile): boolean {
  return journaled !== undefined && mayBeSameInode(journaled, { ino, birthMs });
}

/** The room in the cache for what programs write through one mount, until the journal has it: then it counts as a file of the folder. */
export class DraftRoom {
  /** The bytes that the mount has reserved. */
  #bytes = 0;
  readonly #published = new Set<PublishedFile>();
  /** Of these bytes, those of files that were journaled, which the mount has not given back yet. */
  #journaledBytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes that no file of the folder has. `journaledAt`: the journaled file at a path. */
  countedBytes(journaledAt: (path: string) => Fingerprint | undefined): number {
    let bytes = this.#bytes - this.#journaledBytes;
    for (const file of this.#published) if (isPublished(journaledAt(file.path), file)) bytes -= file.bytes;
    return Math.max(0, bytes);
  }

  grow(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Gives back what is beyond `bytes`. */
  lower(bytes: number): void {
    this.#bytes = Math.min(this.#bytes, bytes);
  }

  /** Gives back bytes of journaled files. */
  giveBackJournaled(bytes: number): void {
    const given = Math.min(bytes, this.#journaledBytes);
    this.#journaledBytes -= given;
    this.#bytes -= given;
  }

  /** A file is in the folder. Call the result when it is journaled. */
  published(file: PublishedFile): () => void {
    this.#published.add(file);
    return () => {
      if (this.#published.delete(file)) this.#journaledBytes += file.bytes;
    };
  }
}
