/** What stat(2) says of an entry. */
export interface EntryStats {
  readonly dev: number;
  readonly ino: number;
  readonly mode: number;
  readonly nlink: number;
  readonly uid: number;
  readonly size: number;
  /** Of 512 bytes each. */
  readonly blocks: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  /** 0 on a file system that keeps none. */
  readonly birthtimeMs: number;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** An entry of a directory with its type. */
export interface DirectoryEntry {
  readonly name: string;
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}

/** A directory that is open for what is in it to be reached. */
export interface OpenDirectory {
  /** `${path}/name` is its entry of that name and `path` the directory itself, whatever has taken its own name since. */
  readonly path: string;
  readonly stats: EntryStats;
  close(): void;
}

/** What statfs(2) says of a file system. */
export interface FileSystemStats {
  readonly type: number;
  readonly bsize: number;
  readonly blocks: number;
  readonly bavail: number;
}

/**
 * All that the code which reads and writes a folder asks of the kernel. Everything in `fs/` goes through here, so that the simulator can run
 * it over a disk of its own. Each call is synchronous, and throws an error with a `code`, as those of `node:fs` do.
 */
export interface SystemCalls {
  /** Undefined where nothing is. */
  lstat(path: string): EntryStats | undefined;
  /** Follows links. Undefined where nothing is. */
  stat(path: string): EntryStats | undefined;
  fstat(fd: number): EntryStats;
  /** The modification time of an open file, or of the entry at a path, in nanoseconds: a double is not exact. */
  mtimeNs(entry: number | string): bigint;
  open(path: string, flags: number, mode?: number): number;
  /**
   * Opens a directory; throws ENOTDIR where a link or anything else is. Only on Linux, with /proc, does its `path` lead by a descriptor:
   * elsewhere it is the path that was given, and another directory may be there by the time it is used.
   */
  openDirectory(path: string): OpenDirectory;
  close(fd: number): void;
  /** Returns the number of bytes; 0 at the end of the file. */
  read(fd: number, target: Uint8Array, offset: number, length: number, position: number): number;
  /** Returns the number of bytes, which may be fewer than `length`. */
  write(fd: number, source: Uint8Array, offset: number, length: number, position: number): number;
  fsync(fd: number): void;
  /** Throws where a link is. */
  chmod(path: string, mode: number): void;
  fchmod(fd: number, mode: number): void;
  /** Sets the modification time, in microseconds since the epoch. */
  futimes(fd: number, mtimeUs: number): void;
  /** As `futimes`, of the entry at a path, which may be a link. */
  lutimes(path: string, mtimeUs: number): void;
  link(existing: string, name: string): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  symlink(target: string, path: string): void;
  mkdir(path: string, mode: number): void;
  rmdir(path: string): void;
  readdir(path: string): readonly string[];
  readdirBytes(path: string): readonly Buffer[];
  readdirTypes(path: string): readonly DirectoryEntry[];
  readlink(path: string): Buffer;
  /** Makes `to`, which must not be there, from the content of `from`, which may be no link; with shared blocks where the file system can do that. */
  copyFile(from: string, to: string): void;
  statfs(path: string): FileSystemStats;
  /** False once `syncFileSystem` has failed: then it is not worth trying. */
  readonly canSyncFileSystem: boolean;
  /** syncfs(2): makes all that was written to the file system of `path` durable. False when that did not work. */
  syncFileSystem(path: string): boolean;
  /** The kernel's list of mounts, as /proc/self/mountinfo has it. Empty where there is none. */
  mountTable(): string;
  /** The kernel's list of what each process has mapped, as /proc/<pid>/maps has it, of those that may be read. */
  memoryMaps(): Iterable<string>;
  /** The user on whose behalf the calls are made. Undefined where users have no numbers. */
  effectiveUser(): number | undefined;
  /** The time of the wall clock, in milliseconds since the epoch. */
  wallMs(): number;
}

/** Calls of the thread that may never be held up by a disk which hangs. */
export interface ControlCalls {
  /** Follows links. Undefined where nothing is. */
  stat(path: string): Promise<EntryStats | undefined>;
  statfs(path: string): Promise<FileSystemStats>;
  isWritable(path: string): Promise<boolean>;
  /** False once `syncFileSystem` has failed. */
  readonly canSyncFileSystem: boolean;
  /** As that of `SystemCalls`. It takes as long as the disk does. */
  syncFileSystem(path: string): Promise<boolean>;
  wallMs(): number;
  monotonicMs(): number;
}
