import { chmodSync, closeSync, constants, fchmodSync, fstatSync, fsyncSync, futimesSync, openSync } from 'node:fs';
import { mtimeUsOf } from '../entry-stat.ts';
import { errorCodeOf } from '../path-problem.ts';
import { permissionsOf, secondsOf } from './file-times.ts';

const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const ownerMayRead = 0o400;

/** Sets mode and modification time of a file or directory, those that are given and differ, and makes them durable. */
export function setAttributes(absolute: string, mode: number | undefined, mtimeUs: number | undefined): void {
  if (mode === undefined && mtimeUs === undefined) return;
  const fd = openAnyway(absolute, mode);
  if (fd === undefined) return;
  try {
    const stats = fstatSync(fd);
    let differs = false;
    if (mode !== undefined && permissionsOf(stats.mode) !== permissionsOf(mode)) {
      fchmodSync(fd, permissionsOf(mode));
      differs = true;
    }
    if (mtimeUs !== undefined && mtimeUsOf(fd) !== mtimeUs) {
      futimesSync(fd, secondsOf(mtimeUs), secondsOf(mtimeUs));
      differs = true;
    }
    if (differs) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Opens an entry; one that its owner may not read is made readable for the moment. Undefined for a link, which has no attributes. */
function openAnyway(absolute: string, mode: number | undefined): number | undefined {
  try {
    return openSync(absolute, openFlags);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ELOOP') return undefined;
    if (code !== 'EACCES' || mode === undefined) throw error;
    chmodSync(absolute, permissionsOf(mode) | ownerMayRead);
    const fd = openSync(absolute, openFlags);
    fchmodSync(fd, permissionsOf(mode));
    return fd;
  }
}
