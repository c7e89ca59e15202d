import { errorCodeOf } from '../os/system-error.ts';
import type { SystemCalls } from './system-calls.ts';

/** Removes a file or link, if there is one. */
export function removeIfThere(system: SystemCalls, path: string): void {
  try {
    system.unlink(path);
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
  }
}

/** Removes the entry at `path`, with everything below it. */
export function removeTree(system: SystemCalls, path: string): void {
  if (system.lstat(path)?.isDirectory() !== true) {
    removeIfThere(system, path);
    return;
  }
  for (const name of system.readdir(path)) removeTree(system, `${path}/${name}`);
  system.rmdir(path);
}
