import { freeFilesMin } from '@lockstep/shared';

/** The inodes of a disk: one for each file and directory. File systems without a fixed number of them report none. */
export interface Inodes {
  readonly free: number;
  readonly total: number;
}

/** The part of a small disk's inodes that takes the place of `freeFilesMin`. */
const freeShareMin = 1 / 8;

/** The number of inodes that what arrives leaves free: the directories of history, the journal and the user need some. */
export function inodesReserve({ total }: Inodes): number {
  return Math.min(freeFilesMin, Math.floor(total * freeShareMin));
}

/** True while the disk has no inode for what arrives. */
export function lacksInodes(inodes: Inodes | undefined): boolean {
  return inodes !== undefined && inodes.free <= inodesReserve(inodes);
}

/** The inodes that statfs(2) reports; undefined if their number is not limited. */
export function inodesOf({ files, ffree }: { readonly files: number; readonly ffree: number }): Inodes | undefined {
  return files > 0 ? { free: ffree, total: files } : undefined;
}
