/** The data of an entry from stat(2). */
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
  /** 0 on a file system without birth times. */
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

/** An open directory, to reach its entries. */
export interface OpenDirectory {
  /** `${path}/name` is its entry `name`, and `path` the directory itself, even if another entry has taken its name since. */
  readonly path: string;
  readonly stats: EntryStats;
  close(): void;
}

/** The data of a file system from statfs(2). */
export interface FileSystemStats {
  readonly type: number;
  readonly bsize: number;
  readonly blocks: number;
  readonly bavail: number;
  /** The number of inodes; 0 if it is not limited. */
  readonly files: number;
  readonly ffree: number;
}

/**
 * All system calls of the code that reads and writes a folder. Everything in `fs/` uses them, so that the simulator can run it on a
 * simulated disk. Each call is synchronous, and throws errors with a `code`, as those of `node:fs` do.
 */
export interface SystemCalls {
  /** Undefined if there is no entry. */
  lstat(path: string): EntryStats | undefined;
  /** Follows links. Undefined if there is no entry. */
  stat(path: string): EntryStats | undefined;
  fstat(fd: number): EntryStats;
  /** The modification time of an open file, or of the entry at a path, in nanoseconds: a double is not exact. */
  mtimeNs(entry: number | string): bigint;
  open(path: string, flags: number, mode?: number): number;
  /**
   * Opens a directory. Throws ENOTDIR for a link or any other entry. Its `path` leads through a descriptor only on Linux with /proc.
   * Elsewhere it is the given path, at which another directory may be by the time of its use.
   */
  openDirectory(path: string): OpenDirectory;
  close(fd: number): void;
  /** Returns the number of bytes; 0 at the end of the file. */
  read(fd: number, target: Uint8Array, offset: number, length: number, position: number): number;
  /** Returns the number of bytes, which may be less than `length`. */
  write(fd: number, source: Uint8Array, offset: number, length: number, position: number): number;
  fsync(fd: number): void;
  /** Throws for a link. */
  chmod(path: string, mode: number): void;
  fchmod(fd: number, mode: number): void;
  /** Sets the modification time, in microseconds since the epoch. */
  futimes(fd: number, mtimeUs: number): void;
  /** As `futimes`, for the entry at a path, which may be a link. */
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
  /** Copies `from`, which must not be a link, to `to`, which must not exist; with shared blocks if the file system supports that. */
  copyFile(from: string, to: string): void;
  statfs(path: string): FileSystemStats;
  /** The number of the file system of `path`, as statfs(2) reports it. Undefined on a machine without stat(1). Throws if that fails. */
  fileSystemId(path: string): string | undefined;
  /** False for a minute after `syncFileSystem` has failed, and where there is no such call. */
  readonly canSyncFileSystem: boolean;
  /** syncfs(2): makes all writes to the file system of `path` durable. False if it failed. */
  syncFileSystem(path: string): boolean;
  /** The kernel's list of mounts, as in /proc/self/mountinfo. Empty if there is none. Throws if it cannot be read. */
  mountTable(): string;
  /** The kernel's lists of mappings, as in /proc/<pid>/maps, one for each readable process. */
  memoryMaps(): Iterable<string>;
  /**
   * The paths of files that other processes have open for writing, from the links in /proc/<pid>/fd: those that begin with `prefix`. As
   * for `memoryMaps`, each character is a byte.
   */
  writtenFiles(prefix: string): Iterable<string>;
  /** The user ID of the calls. Undefined on systems without user IDs. */
  effectiveUser(): number | undefined;
  /** The time of the wall clock, in milliseconds since the epoch. */
  wallMs(): number;
}

/** Calls of the thread that must never block on a disk that hangs. */
export interface ControlCalls {
  /** Follows links. Undefined if there is no entry. */
  stat(path: string): Promise<EntryStats | undefined>;
  statfs(path: string): Promise<FileSystemStats>;
  isWritable(path: string): Promise<boolean>;
  /** Opens a directory and closes it, as each job does with the folder. Rejects if that fails, as with too many open files. */
  openOnce(directory: string): Promise<void>;
  /** As in `SystemCalls`. */
  readonly canSyncFileSystem: boolean;
  /** As that of `SystemCalls`. It takes as long as the disk does. */
  syncFileSystem(path: string): Promise<boolean>;
  /** fdatasync(2) of a file, which must not be a link. It takes as long as the disk does. */
  syncFile(path: string): Promise<void>;
  wallMs(): number;
  monotonicMs(): number;
  /** Resolves once other due tasks had their turn. */
  turn(): Promise<void>;
}
