import { constants } from 'node:fs';
import { mtimeUsOf } from '../entry-stat.ts';
import { errorCodeOf } from '../path-problem.ts';
import type { SystemCalls } from '../system-calls.ts';
import { permissionsOf } from './file-times.ts';

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const ownerMayRead = 0o400;

/** Sets mode and modification time of a file or directory, those that are given and differ, and makes them durable. */
export function setAttributes(
  system: SystemCalls,
  absolute: string,
  mode: number | undefined,
  mtimeUs: number | undefined,
): void {
  if (mode === undefined && mtimeUs === undefined) return;
  const fd = openAnyway(system, absolute, mode);
  if (fd === undefined) return;
  try {
    const stats = system.fstat(fd);
    let differs = false;
    if (mode !== undefined && permissionsOf(stats.mode) !== permissionsOf(mode)) {
      system.fchmod(fd, permissionsOf(mode));
      differs = true;
    }
    if (mtimeUs !== undefined && mtimeUsOf(system, fd) !== mtimeUs) {
      system.futimes(fd, mtimeUs);
      differs = true;
    }
    if (differs) system.fsync(fd);
  } finally {
    system.close(fd);
  }
}

/** Opens an entry; one that its owner may not read is made readable for the moment. Undefined for a link, which has no attributes. */
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
