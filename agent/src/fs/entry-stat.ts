import { fileTimeStepMsMax } from '@lockstep/shared';
import { type Fingerprint, isSameEntry, isSameWriting } from '../core/entry.ts';
import { errorCodeOf } from './path-problem.ts';
import type { EntryStats, SystemCalls } from './system-calls.ts';

export type EntryType = 'file' | 'directory' | 'symlink' | 'special';

/** `lstat` that answers undefined where nothing stands (or can stand, below a file). Other errors are thrown. */
export function lstatIfThere(system: SystemCalls, path: string): EntryStats | undefined {
  try {
    return system.lstat(path);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

/**
 * The fingerprint of an entry. A file system without birth times answers 0. A kernel without statx(2) answers the change time: two
 * fingerprints of one renamed inode then differ, so a renamed file is read, and nothing is mistaken.
 */
export function fingerprintOf(stats: EntryStats): Fingerprint {
  const { ino, size, mtimeMs, ctimeMs, mode, birthtimeMs } = stats;
  return { ino, size, mtimeMs, ctimeMs, mode, ...(birthtimeMs > 0 && { birthMs: birthtimeMs }) };
}

/**
 * The modification time of an open file, or of what stands at a path, in whole microseconds, rounded down. A number of
 * milliseconds has steps of a quarter of a microsecond, so what is next to a whole microsecond would be taken for the next one.
 */
export function mtimeUsOf(system: SystemCalls, entry: number | string): number {
  const mtimeNs = system.mtimeNs(entry);
  const us = mtimeNs / 1000n;
  // Division of whole numbers cuts towards zero, which before 1970 is up.
  return Number(us * 1000n > mtimeNs ? us - 1n : us);
}

export function typeOf(stats: EntryStats): EntryType {
  if (stats.isFile()) return 'file';
  if (stats.isDirectory()) return 'directory';
  return stats.isSymbolicLink() ? 'symlink' : 'special';
}

/** True when the entry still has this fingerprint. Of a directory only identity and mode count: its times move with its entries. */
export function hasFingerprint(stats: EntryStats, expected: Fingerprint): boolean {
  return isSameEntry(fingerprintOf(stats), expected);
}

/** As `hasFingerprint`, but without the change time, which our own link(2) and rename(2) move. */
export function hasContentOf(
  stats: EntryStats,
  expected: Pick<Fingerprint, 'ino' | 'size' | 'mode' | 'mtimeMs'>,
): boolean {
  return isWrittenAs(stats, expected) && stats.mode === expected.mode;
}

/** As `hasContentOf`, whatever the mode is. */
export function isWrittenAs(stats: EntryStats, expected: Pick<Fingerprint, 'ino' | 'size' | 'mtimeMs'>): boolean {
  return stats.ino === expected.ino && isSameWriting(stats, expected);
}

/**
 * True when a change after the look at `wallMs` could leave the same fingerprint. The change time alone would tell, as nobody
 * can set it; where the file system keeps none, the modification time stands in, unless somebody set it into the future.
 */
export function isRacy(stats: EntryStats, wallMs: number): boolean {
  const sinceChangeMs = wallMs - stats.ctimeMs;
  const sinceModificationMs = wallMs - stats.mtimeMs;
  return (
    Math.abs(sinceChangeMs) < fileTimeStepMsMax || (sinceModificationMs >= 0 && sinceModificationMs < fileTimeStepMsMax)
  );
}

/**
 * As `isRacy`, for a file that we just put there with a modification time of our choosing: whoever writes to it now gives it
 * the present time, so only a chosen time that is near the present could hide that.
 */
export function isRacyAfterPlacing(stats: EntryStats, wallMs: number): boolean {
  return stats.isFile() && Math.abs(wallMs - stats.mtimeMs) < fileTimeStepMsMax;
}
