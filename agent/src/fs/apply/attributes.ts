import { constants } from 'node:fs';
import type { Fingerprint } from '../../core/entry.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import { isWrittenAs, mtimeUsOf } from '../entry-stat.ts';
import type { SystemCalls } from '../system-calls.ts';
import { permissionsOf } from './permissions.ts';

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const ownerMayRead = 0o400;

/** Mode, and modification time in microseconds, to set on an entry. Absent fields stay unchanged. */
export interface Attributes {
  readonly mode?: number | undefined;
  readonly mtimeUs?: number | undefined;
}

/**
 * Sets the attributes of a file or directory where they differ, and makes them durable. An entry that a user put in its place is left alone,
 * and so is a file that was written since: its modification time is the only sign of that write. Returns what the file system kept of those
 * that were set. To set the time hides a concurrent write.
 */
export function setAttributes(
  system: SystemCalls,
  absolute: string,
  expected: Fingerprint,
  { mode, mtimeUs }: Attributes,
): Attributes {
  if (mode === undefined && mtimeUs === undefined) return {};
  const fd = openAnyway(system, absolute, mode);
  if (fd === undefined) return {};
  try {
    const isOtherTime = mtimeUs !== undefined && mtimeUsOf(system, fd) !== mtimeUs;
    const stats = system.fstat(fd);
    const isOther = stats.isFile() ? !isWrittenAs(stats, expected) : stats.ino !== expected.ino;
    if (isOther) return {};
    const isOtherMode = mode !== undefined && permissionsOf(stats.mode) !== permissionsOf(mode);
    if (isOtherMode) system.fchmod(fd, permissionsOf(mode));
    const kept = {
      mode: isOtherMode ? keptPermissions(mode, { before: stats.mode, after: system.fstat(fd).mode }) : undefined,
      mtimeUs: isOtherTime ? setTime(system, fd, mtimeUs) : undefined,
    };
    if (isOtherMode || isOtherTime) system.fsync(fd);
    return kept;
  } finally {
    system.close(fd);
  }
}

/**
 * The permissions that a file system keeps of those in `wanted`, by the modes of before and after they were set. Some keep none: FAT, and some
 * network and FUSE file systems. Any third mode is one that a user set at the same moment.
 */
export function keptPermissions(
  wanted: number,
  { before, after }: { readonly before: number; readonly after: number },
): number {
  return permissionsOf(permissionsOf(after) === permissionsOf(before) ? before : wanted);
}

/**
 * Sets the time of an open file, and returns the one that the file system keeps. The two differ if the time is out of the file system's
 * range, or finer than its steps: 1901 to 2038 in small inodes of ext4, two seconds on FAT. If a second attempt gives the same, no program
 * set it.
 */
function setTime(system: SystemCalls, fd: number, mtimeUs: number): number {
  system.futimes(fd, mtimeUs);
  const keptUs = mtimeUsOf(system, fd);
  if (keptUs === mtimeUs) return mtimeUs;
  system.futimes(fd, mtimeUs);
  return mtimeUsOf(system, fd) === keptUs ? keptUs : mtimeUs;
}

/** Opens an entry. One that its owner may not read is made readable until it is open. Undefined for a link, which has no attributes. */
function openAnyway(system: SystemCalls, absolute: string, mode: number | undefined): number | undefined {
  try {
    return system.open(absolute, openFlags);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ELOOP') return undefined;
    if (code !== 'EACCES' || mode === undefined) throw error;
    system.chmod(absolute, permissionsOf(mode) | ownerMayRead);
    const fd = system.open(absolute, openFlags);
    system.fchmod(fd, permissionsOf(mode));
    return fd;
  }
}
