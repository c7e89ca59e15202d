import { freeBytesMin, LockstepError } from '@lockstep/shared';
import { formatBytes, formatCount, formatItems } from '@lockstep/shared/present';
import { type Inodes, inodesReserve, lacksInodes } from '../../core/disk-room.ts';
import type { Clock } from '../ports/clock.ts';
import type { DiskRoom } from '../ports/folder.ts';
import type { Problems } from './problems.ts';

/** Reports the problem `disk-full` while the disk of the folder has too few free bytes or inodes, and withdraws it afterwards. */
export function reportRoom(problems: Problems, { freeBytes, inodes }: DiskRoom): void {
  const isShort = inodes !== undefined && lacksInodes(inodes);
  if (freeBytes >= freeBytesMin && !isShort) problems.clear('disk-full');
  else {
    const has = isShort
      ? `${fewInodes(inodes)}. Remove small files`
      : `The disk of the folder has ${formatBytes(freeBytes)} left; below ${formatBytes(freeBytesMin)} nothing more is written there. Free some space`;
    const detail = `${has}: nothing is lost meanwhile, and Lockstep then continues automatically.`;
    problems.set('disk-full', {}, detail);
  }
}

/** The words about a disk without inodes for what arrives. */
function fewInodes(inodes: Inodes): string {
  const room = formatItems(inodes.free, 'more file or directory', 'more files and directories');
  return `The disk of the folder has room for only ${room}, whatever their size; the last ${formatCount(inodesReserve(inodes))} are left free`;
}

/** The free bytes that may be used at all: none without free inodes. */
export function usableBytes({ freeBytes, inodes }: DiskRoom): number {
  return lacksInodes(inodes) ? 0 : freeBytes;
}

/** Interval at which a write that must not be skipped is tried again while the disk is full. */
const retryMs = 1_000;

/** Runs a write to the journal that may be skipped, and skips it if the disk is full. Other errors are thrown. */
export function writeIfRoom(write: () => unknown): void {
  try {
    write();
  } catch (error) {
    if (!isJournalFull(error)) throw error;
  }
}

/**
 * Runs a write to the journal without which a start cannot continue. While the disk is full it is tried again each second: an agent
 * that ended would not continue automatically once there is room. Resolves with false if `giveUp` says so before. Other errors are thrown.
 */
export async function writeOnceRoom(clock: Clock, write: () => unknown, giveUp: () => boolean): Promise<boolean> {
  while (!giveUp()) {
    try {
      await write();
      return true;
    } catch (error) {
      if (!isJournalFull(error)) throw error;
    }
    await new Promise<void>((resolve) => clock.after(retryMs, resolve));
  }
  return false;
}

/** Whether a write to the journal failed because its disk has no room. */
export function isJournalFull(error: unknown): boolean {
  return error instanceof LockstepError && error.code === 'journal-full';
}
