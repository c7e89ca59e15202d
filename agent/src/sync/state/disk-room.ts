import { freeBytesMin, LockstepError } from '@lockstep/shared';
import type { Problems } from './problems.ts';

/** Reports the problem `disk-full` while the disk of the folder has less than `freeBytesMin` bytes free, and withdraws it afterwards. */
export function reportRoom(problems: Problems, freeBytes: number): void {
  if (freeBytes >= freeBytesMin) problems.clear('disk-full');
  else {
    const mebibytes = (bytes: number): number => Math.floor(bytes / 1_048_576);
    const detail =
      `The disk of the folder has ${mebibytes(freeBytes)} MiB left; below ${mebibytes(freeBytesMin)} MiB nothing more is written ` +
      'there. Free some space: nothing is lost meanwhile, and Lockstep then continues automatically.';
    problems.set('disk-full', {}, detail);
  }
}

/** Runs a write to the journal that may be skipped, and skips it if the disk is full. Other errors are thrown. */
export function writeIfRoom(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (!(error instanceof LockstepError) || error.code !== 'journal-full') throw error;
  }
}
