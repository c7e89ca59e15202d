import { constants } from 'node:fs';
import type { OpenDirectory, SystemCalls } from '../system-calls.ts';
import { permissionsOf } from './permissions.ts';

const ownerMayWrite = 0o200;

/**
 * Runs `change` with our own read-only directories among `directories` made writable; `wereClosed` if there is one. The write permission is
 * replicated: a member that obeyed it could never apply what another member did there [MT19].
 */
export function withDirectoriesOpen<T>(
  system: SystemCalls,
  directories: readonly Pick<OpenDirectory, 'path' | 'stats'>[],
  change: (wereClosed: boolean) => T,
): T {
  // Before the first attempt: leftovers of a failed one, such as a second link, would look like a user's change to the next.
  const closeAgain = directories.map((directory) => open(system, directory)).filter((close) => close !== undefined);
  try {
    return change(closeAgain.length > 0);
  } finally {
    for (const close of closeAgain) close();
  }
}

/** Returns a function that makes it read-only again, at any path. Undefined if it is writable, another user's, or may not be read. */
function open(system: SystemCalls, { path, stats }: Pick<OpenDirectory, 'path' | 'stats'>): (() => void) | undefined {
  if ((stats.mode & ownerMayWrite) !== 0 || stats.uid !== system.effectiveUser()) return undefined;
  const descriptor = descriptorOf(system, path);
  if (descriptor === undefined) return undefined;
  const permissions = permissionsOf(stats.mode);
  system.fchmod(descriptor, permissions | ownerMayWrite);
  return () => {
    system.fchmod(descriptor, permissions);
    system.close(descriptor);
  };
}

function descriptorOf(system: SystemCalls, directory: string): number | undefined {
  try {
    return system.open(directory, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  } catch {
    // Missing or unreadable: the error of the change itself is sufficient.
    return undefined;
  }
}
