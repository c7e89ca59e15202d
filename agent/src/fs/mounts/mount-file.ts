import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { LockstepError } from '@lockstep/shared';
import { syncPath } from '../durable.ts';
import { errorCodeOf } from '../path-problem.ts';
import type { MountIdentity } from './mounts.ts';

const name = 'mounts.json';

/** The mounts that were accepted as parts of the folder. Throws 'folder-not-writable' when the file is there and cannot be read. */
export function readAccepted(state: string): readonly MountIdentity[] {
  try {
    return JSON.parse(readFileSync(`${state}/${name}`, 'utf8')) as readonly MountIdentity[];
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    // Without it a disk that is not mounted looks like a directory from which everything was deleted.
    throw new LockstepError(
      'folder-not-writable',
      `${state}/${name} cannot be read (${String(error)}). Mount all disks inside the folder as before, then remove that file.`,
      { cause: error },
    );
  }
}

/** Writes the accepted mounts. Durable and whole: rename(2) puts the new file in place. */
export function writeAccepted(state: string, accepted: readonly MountIdentity[]): void {
  const temporary = `${state}/${name}.new`;
  const fd = openSync(temporary, 'w', 0o600);
  try {
    writeFileSync(fd, JSON.stringify(accepted));
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(temporary, `${state}/${name}`);
  syncPath(state);
}
