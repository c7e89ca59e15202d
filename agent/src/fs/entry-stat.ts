import { fileTimeStepMsMax } from '@lockstep/shared';
import { type Fingerprint, isSameEntry, isSameWriting } from '../core/entry.ts';
import { errorCodeOf } from '../os/system-error.ts';
import type { EntryStats, SystemCalls } from './system-calls.ts';

type InodeName = Pick<EntryStats, 'dev' | 'ino'>;

export type EntryType = 'file' | 'directory' | 'symlink' | 'special';

/** `lstat` that returns undefined if there is no entry, or cannot be one below a file. Throws other errors. */
export function lstatIfThere(system: SystemCalls, path: string): EntryStats | undefined {
  try {
    return system.lstat(path);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * The fingerprint of an entry. The birth time is 0 on a file system without birth times, and the change time on a kernel without statx(2):
 * fingerprints of a renamed inode then differ, so the file is read again, and no change is missed.
 */
export function fingerprintOf(stats: EntryStats): Fingerprint {
  const { ino, size, mtimeMs, ctimeMs, mode, birthtimeMs } = stats;
  return { ino, size, mtimeMs, ctimeMs, mode, ...(birthtimeMs > 0 && { birthMs: birthtimeMs }) };
}

/**
 * The modification time of an open file, or of the entry at a path, in whole microseconds, rounded down. A double of milliseconds has a
 * resolution of a quarter of a microsecond: a time just below a microsecond would be rounded up.
 */
export function mtimeUsOf(system: SystemCalls, entry: number | string): number {
  const mtimeNs = system.mtimeNs(entry);
  const us = mtimeNs / 1000n;
  // Division of a BigInt truncates towards zero, which is up before 1970.
  return Number(us * 1000n > mtimeNs ? us - 1n : us);
}

export function typeOf(stats: EntryStats): EntryType {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : 'special';
}

/** True if both are the same inode of the same disk. Disks inside the folder have the same inode numbers. */
export function isOneInode(a: InodeName | undefined, b: InodeName | undefined): boolean {
  return a !== undefined && a.ino === b?.ino && a.dev === b.dev;
}

/** True if the entry still has this fingerprint. For a directory only identity and mode count: its times change with its entries. */
export function hasFingerprint(stats: EntryStats, expected: Fingerprint): boolean {
  return isSameEntry(fingerprintOf(stats), expected);
}

/** As `hasFingerprint`, but without the change time, which our own link(2) and rename(2) update. */
export function hasContentOf(
  stats: EntryStats,
  expected: Pick<Fingerprint, 'ino' | 'size' | 'mode' | 'mtimeMs'>,
): boolean {
  return isWrittenAs(stats, expected) && stats.mode === expected.mode;
}

/** As `hasContentOf`, but without the mode. */
export function isWrittenAs(stats: EntryStats, expected: Pick<Fingerprint, 'ino' | 'size' | 'mtimeMs'>): boolean {
  return stats.ino === expected.ino && isSameWriting(stats, expected);
}

/**
 * True if a change after `wallMs` could leave the same fingerprint. No program can set the change time, so it would suffice. On a file
 * system without one, the modification time is used, unless a program set it to the future.
 */
export function isRacy(stats: EntryStats, wallMs: number): boolean {
  const sinceChangeMs = wallMs - stats.ctimeMs;
  const sinceModificationMs = wallMs - stats.mtimeMs;
  return (
    Math.abs(sinceChangeMs) < fileTimeStepMsMax || (sinceModificationMs >= 0 && sinceModificationMs < fileTimeStepMsMax)
  );
}

/**
 * As `isRacy`, for a file that was just placed with a given modification time. A later write sets the present time, so it can only be
 * hidden if the given time is near the present.
 */
export function isRacyAfterPlacing(stats: EntryStats, wallMs: number): boolean {
  return stats.isFile() && Math.abs(wallMs - stats.mtimeMs) < fileTimeStepMsMax;
}
