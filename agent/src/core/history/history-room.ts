import { freeBytesMin, historyDiskShareMax, historyReserveBytesMax, historyReserveShare } from '@lockstep/shared';

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
