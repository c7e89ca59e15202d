/**
 * The identity of a mount when it became a part of the folder. Device numbers are reassigned at each boot. So disks are distinguished by
 * inode and birth time of the mounted root, and by the file system's own number. Without a birth time, type and size are used.
 */
export interface MountIdentity {
  readonly path: string;
  readonly ino: number;
  readonly birthMs?: number | undefined;
  /** As statfs(2) reports it. */
  readonly type: number;
  readonly blocks: number;
  /** `SystemCalls.fileSystemId`, for types that keep it on the disk. */
  readonly fileSystemId?: string | undefined;
  /** True if its device differs from its parent's: false for a bind mount of the same file system. */
  readonly isOwnDevice: boolean;
}

/** The known mounts inside the folder. */
export interface KnownMounts {
  /** Those that are parts of the folder. */
  readonly accepted: readonly MountIdentity[];
  /** Paths of the others. */
  readonly foreign: readonly string[];
}
