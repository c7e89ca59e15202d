import { freeBytesMin, historyDiskShareMax, historyReserveBytesMax, historyReserveShare } from '@lockstep/shared';
import { type Inodes, inodesReserve } from '../disk-room.ts';

/** The room for history as a user sets it: bytes, or a part of the disk. */
export type HistorySize = { readonly bytes: number } | { readonly share: number };

/** A disk, and the bytes of history on it. */
export interface DiskUse {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly historyBytes: number;
}

/** Bytes that history leaves free on a disk of this size: more than those below which nothing that arrives is written. */
export function historyReserve(totalBytes: number): number {
  return Math.min(historyReserveBytesMax, Math.max(2 * freeBytesMin, totalBytes * historyReserveShare));
}

/** The bytes that history may occupy now: as set, and less while the disk has less free than its reserve. Never negative. */
export function historyRoom({ totalBytes, freeBytes, historyBytes }: DiskUse, size?: HistorySize): number {
  const set = size ?? { share: historyDiskShareMax };
  const allowed = 'bytes' in set ? set.bytes : totalBytes * set.share;
  return Math.max(0, Math.floor(Math.min(allowed, historyBytes + freeBytes - historyReserve(totalBytes))));
}

/** Inodes that history leaves free: more than those below which nothing that arrives is written. */
export function historyInodesReserve(inodes: Inodes): number {
  return 2 * inodesReserve(inodes);
}

/** The versions that history may have now: as set, and less while the disk has fewer inodes free than their reserve. Never negative. */
export function historyFiles(filesMax: number, versions: number, inodes: Inodes | undefined): number {
  if (inodes === undefined) return filesMax;
  return Math.max(0, Math.min(filesMax, versions + inodes.free - historyInodesReserve(inodes)));
}
