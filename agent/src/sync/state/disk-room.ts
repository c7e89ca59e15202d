import { freeBytesMin, LockstepError } from '@lockstep/shared';
import type { Problems } from './problems.ts';

/** Reports a disk that is as good as full, and withdraws that once there is room. */
export function reportRoom(problems: Problems, freeBytes: number): void {
  if (freeBytes >= freeBytesMin) problems.clear('disk-full');
  else {
    const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576);
    const detail =
      `The disk of the folder has ${mebibytes(freeBytes)} MiB left; below ${mebibytes(freeBytesMin)} MiB nothing more is written ` +
      'there. Free some space: nothing is lost meanwhile, and it goes on by itself.';
    problems.set('disk-full', {}, detail);
  }
}

/** Writes to the journal what may as well be left out while there is no room for it. */
export function writeIfRoom(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof LockstepError) || error.code !== 'journal-full') throw error;
  }
}
