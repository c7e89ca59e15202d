import type { EntryStat, OpenVersion, VersionId } from '../ports/access.ts';
import type { RemoteEntry, RemoteFiles } from './remote-files.ts';

/** The agent is asked for this many bytes at a time: a program that reads on finds the next ones here. */
const windowBytes = 1_048_576;

/** The attributes of a file that is not on the disk. */
export function remoteStat({ size, mode, mtimeMs }: RemoteEntry): EntryStat {
  return { kind: 'file', mode, size, mtimeMs, ctimeMs: mtimeMs, inode: 0 };
}

/** A version of a file that is not on the disk, open for reading: its bytes come from the agent, which fetches them. */
export class RemoteVersion implements OpenVersion {
  readonly isLocal = false;
  readonly #files: RemoteFiles;
  readonly #path: string;
  readonly #entry: RemoteEntry;
  #window: { readonly start: number; readonly bytes: Promise<Uint8Array> } | undefined;

  constructor(files: RemoteFiles, path: string, entry: RemoteEntry) {
    this.#files = files;
    this.#path = path;
    this.#entry = entry;
  }

  get version(): VersionId {
    return `remote:${this.#entry.version}`;
  }

  /** Whether it is the one that the agent names so. */
  is(version: string | undefined): boolean {
    return this.#entry.version === version;
  }

  stat(): EntryStat {
    return remoteStat(this.#entry);
  }

  async read(buffer: Uint8Array, offset: number): Promise<number> {
    let length = 0;
    while (length < buffer.length && offset + length < this.#entry.size) {
      const at = offset + length;
      const start = at - (at % windowBytes);
      const bytes = await this.#from(start);
      const part = bytes.subarray(at - start, at - start + buffer.length - length);
      if (part.length === 0) break;
      buffer.set(part, length);
      length += part.length;
    }
    return length;
  }

  async sync(): Promise<void> {
    // Nothing of it was written here.
  }

  close(): void {
    this.#window = undefined;
  }

  #from(start: number): Promise<Uint8Array> {
    if (this.#window?.start !== start) {
      const end = Math.min(start + windowBytes, this.#entry.size);
      const bytes = this.#files.read(this.#path, this.#entry.version, { start, end });
      // A failed read is tried again when the program does.
      bytes.catch(() => {
        this.#window = undefined;
      });
      this.#window = { start, bytes };
    }
    return this.#window.bytes;
  }
}
