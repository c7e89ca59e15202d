import type { Soon } from '../ports/access.ts';

/** A file of a member that is not on its disk: the agent fetches it when it is read. */
export interface RemoteEntry {
  readonly name: string;
  /** Names its version. */
  readonly version: string;
  readonly size: number;
  readonly mode: number;
  readonly mtimeMs: number;
}

/** A file that the agent keeps on the disk. */
export interface Hold {
  release(): void;
}

export interface RoomRequest {
  readonly path?: string;
  readonly bytes: number;
  readonly wished: number;
  /** Bytes of published files, which are in the other numbers no more. */
  readonly journaled: number;
}

/** A draft that is in the folder. */
export interface PublishedFile {
  readonly path: string;
  readonly inode: number;
  readonly birthMs?: number | undefined;
  readonly bytes: number;
}

/** Room in the cache of the member, for what programs write. */
export interface Room {
  /** Reserves `bytes` for `path`, or `wished` if so much is free; without a path, gives back what is beyond `wished`. Resolves with what is reserved. */
  set(request: RoomRequest): Promise<number>;
  /** Reports files that are in the folder: when this resolves, their reserved bytes count as theirs. */
  published(files: readonly PublishedFile[]): Promise<void>;
  end(): void;
}

/** The files of a member that are not on its disk, through its agent. A method that fails throws an error with `code`, such as `EIO`. */
export interface RemoteFiles {
  /** Those directly in a directory, as they are now. */
  list(directory: string): Promise<readonly RemoteEntry[]>;
  /** The entry at `path`, if there is one. Its properties may be a second old. Known absence is reported at once. */
  find(path: string): Soon<RemoteEntry | undefined>;
  /** The entry at `path` as it is now, if there is one. */
  findNow(path: string): Promise<RemoteEntry | undefined>;
  /** The version of the file at `path` by now, wherever its content is; undefined if there is none. */
  versionNow(path: string): Promise<string | undefined>;
  /** The caller changed what is at `path` in the folder: what was said of it before is not true any more. */
  changed(path: string): void;
  /** Brings the file at `path` to the disk, and keeps it there. */
  hold(path: string): Promise<Hold>;
  /** Bytes of the file at `path`, which must still have this version. */
  read(path: string, version: string, range: { readonly start: number; readonly end: number }): Promise<Uint8Array>;
  /** Room for drafts; none is reserved yet. `ended`: the agent has forgotten it. */
  openRoom(ended: () => void): Promise<Room>;
  /** A directory was renamed in the folder: its files that are not on the disk have their new paths when this resolves. */
  renamed(from: string, to: string): Promise<void>;
  /** A program opened the file at `path`, which is on the disk. */
  used(path: string): void;
  remove(path: string): Promise<void>;
  /** Nothing may be at `to`. */
  move(from: string, to: string): Promise<void>;
}
