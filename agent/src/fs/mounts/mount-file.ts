import { constants } from 'node:fs';
import { LockstepError } from '@lockstep/shared';
import { unreadableFile } from '@lockstep/shared/present';
import { errorCodeOf } from '../../os/system-error.ts';
import { writeFully } from '../apply/write-bytes.ts';
import { syncPath } from '../durable.ts';
import { lstatIfThere } from '../entry-stat.ts';
import { readFully, withFile } from '../read/read-content.ts';
import type { SystemCalls } from '../system-calls.ts';
import type { MountIdentity } from './mount-identity.ts';

const name = 'mounts.json';

const createFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;

/** The mounts accepted as parts of the folder. Throws 'folder-not-writable' if the file exists and cannot be read. */
export function readAccepted(system: SystemCalls, state: string): readonly MountIdentity[] {
  try {
    const accepted: unknown = JSON.parse(readText(system, `${state}/${name}`));
    if (!Array.isArray(accepted)) throw new SyntaxError('it is not a list');
    return accepted as readonly MountIdentity[];
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT') return [];
    // The list may be whole: to remove it would be wrong.
    if (code !== undefined && code !== 'ELOOP') {
      throw new LockstepError('folder-not-writable', unreadableFile(`${state}/${name}`, code), { cause: error });
    }
    const fault = error instanceof SyntaxError ? 'is damaged' : 'is not a regular file';
    // Without it an unmounted disk looks like a directory from which everything was deleted.
    throw new LockstepError(
      'folder-not-writable',
      `${state}/${name} ${fault}. Mount all disks inside the folder as before, then remove that file.`,
      { cause: error },
    );
  }
}

/** Writes the accepted mounts, atomically (by rename(2)) and durably. */
export function writeAccepted(system: SystemCalls, state: string, accepted: readonly MountIdentity[]): void {
  const temporary = `${state}/${name}.new`;
  // A kill may have left one. An open of a FIFO for writing would wait for a reader.
  if (lstatIfThere(system, temporary) !== undefined) system.unlink(temporary);
  const fd = system.open(temporary, createFlags, 0o600);
  try {
    writeFully(system, fd, new TextEncoder().encode(JSON.stringify(accepted)));
    system.fsync(fd);
  } finally {
    system.close(fd);
  }
  system.rename(temporary, `${state}/${name}`);
  syncPath(system, state);
}

function readText(system: SystemCalls, path: string): string {
  return withFile(system, path, (fd) => {
    const stats = system.fstat(fd);
    if (!stats.isFile()) throw new Error('it is not a file');
    const bytes = new Uint8Array(stats.size);
    return new TextDecoder().decode(bytes.subarray(0, readFully(system, fd, bytes, 0)));
  });
}
