/** The type of an entry that a mount shows. Others, such as sockets, are not replicated and not shown. */
export type EntryKind = 'file' | 'directory' | 'symlink';

/** The attributes of an entry. */
export interface EntryStat {
  readonly kind: EntryKind;
  /** Permission bits. */
  readonly mode: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** Its number on the disk of the folder; 0 if it is not there. */
  readonly inode: number;
  /** Undefined on a file system that keeps no birth times. */
  readonly birthMs?: number | undefined;
}

/** An entry of a directory. */
export interface NamedEntry {
  readonly name: string;
  readonly kind: EntryKind;
}

/** Identifies what is at a path at one moment. A path whose version is another one was changed since. */
export type VersionId = string;

/** A result that is there at once, or comes from the agent. */
export type Soon<Result> = Promise<Result> | Result;

/** One version of a file, open for reading. Its bytes do not change when another version takes its place. */
export interface OpenVersion {
  readonly version: VersionId;
  /** True if all bytes are on the disk: they can be read when another version has its place. */
  readonly isLocal: boolean;
  stat(): EntryStat;
  /** Reads into `buffer` from `offset` on. Returns the number of bytes: fewer than asked for only at the end. */
  read(buffer: Uint8Array, offset: number): Soon<number>;
  /** Makes the version durable. */
  sync(): Promise<void>;
  close(): void;
}

/** A file that no path has yet: the staging of a session. */
export interface Draft {
  stat(): EntryStat;
  read(buffer: Uint8Array, offset: number): number;
  write(bytes: Uint8Array, offset: number): Soon<number>;
  truncate(size: number): Soon<void>;
  setMode(mode: number): void;
  setTimes(atimeMs: number, mtimeMs: number): void;
  sync(): Promise<void>;
  /**
   * Gives the draft its path, at once and as a whole. `expected`: the version that the session began with; `undefined`: nothing was there.
   * If something else is there now, that stays, and the draft gets the path of a conflict copy. The draft cannot be written any more.
   */
  publish(path: string, expected: VersionId | undefined): Promise<Published>;
  /** Removes the draft. */
  drop(): void;
}

/** A version that a draft may replace. */
export interface KeptVersion {
  readonly opened: OpenVersion;
  /** The version need not stay in the folder any longer. */
  release(): void;
}

/** A draft that has a path. */
export interface Published {
  readonly opened: OpenVersion;
  /** The path of the conflict copy, if another version took its place meanwhile. */
  readonly conflictPath: string | undefined;
}

/** The room that a file system reports. */
export interface Room {
  readonly blockBytes: number;
  readonly blocks: number;
  readonly freeBlocks: number;
  readonly availableBlocks: number;
  readonly files: number;
  readonly freeFiles: number;
}

/**
 * The entries of a member, as a mount uses them. A path is relative to the folder; the empty one is the folder. A method that fails throws
 * an error with `code`, such as `ENOENT`.
 */
export interface Access {
  stat(path: string): Soon<EntryStat>;
  /** The attributes that programs are shown for these. */
  shown(stat: EntryStat): EntryStat;
  list(directory: string): Soon<readonly NamedEntry[]>;
  linkText(path: string): string;
  makeDirectory(path: string, mode: number): Soon<void>;
  makeLink(path: string, target: string): Soon<void>;
  setMode(path: string, mode: number): Soon<void>;
  setTimes(path: string, atimeMs: number, mtimeMs: number): Promise<void>;
  /** One rename; what is at `to` is replaced. */
  rename(from: string, to: string): Soon<void>;
  removeFile(path: string): Soon<void>;
  removeDirectory(path: string): Soon<void>;
  /** Makes the names in a directory durable. */
  syncDirectory(path: string): Promise<void>;
  open(path: string): Soon<OpenVersion>;
  /** True if `now`, which was opened at `path` after `opened`, is the same version: it may have left the disk, or come to it, meanwhile. */
  isSame(path: string, opened: OpenVersion, now: OpenVersion): Soon<boolean>;
  /**
   * Keeps the version that was opened at `path` in the folder, so that a draft can copy and replace it. If it is not there, it is
   * brought and opened instead. Throws ESTALE if that cannot be done because another version is there.
   */
  keep(path: string, opened: OpenVersion): Soon<KeptVersion>;
  /**
   * A new draft of the file at `path`: a copy of `from`, or empty. `beforeCopy` is called if the copy takes room of its own: it does not
   * where the file system shares the blocks of both.
   */
  draft(path: string, from: OpenVersion | undefined, mode: number, beforeCopy?: () => Soon<void>): Promise<Draft>;
  room(): Promise<Room>;
}
