import { constants } from 'node:fs';
import type { OpenDirectory, SystemCalls } from '../system-calls.ts';
import { permissionsOf } from './file-times.ts';

const ownerMayWrite = 0o200;

/**
 * Runs `change` with those of these directories open that are our own and closed to writing: the right to write is a thing that
 * users replicate, and a member that obeyed it would wait for ever for what another did there [MT19].
 */
export function withDirectoriesOpen<T>(
  system: SystemCalls,
  directories: readonly Pick<OpenDirectory, 'path' | 'stats'>[],
  change: () => T,
): T {
  // Before the first try: what a refused one leaves, such as another link to a file, would look like a user's change to the next.
  const closeAgain = directories.map((directory) => open(system, directory)).filter((close) => close !== undefined);
  try {
    return change();
  } finally {
    for (const close of closeAgain) close();
  }
}

/** Answers with what closes it again, wherever it lies by then. Undefined when it is open, another user's, or may not be read. */
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
    // Gone, or not to be read: the change is refused, and that says enough.
    return undefined;
  }
}
