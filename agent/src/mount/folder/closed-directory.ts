import { chmodSync, lstatSync } from 'node:fs';

const ownerMayAll = 0o700;

/**
 * Runs `change`, which needs more rights in a directory than programs do that write to a file of it: only its draft takes a name. If the
 * owner has closed the directory, it is open for that moment.
 */
export function withOpenDirectory<Result>(directory: string, change: () => Result): Result {
  try {
    return change();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EACCES') throw error;
    const { mode, uid } = lstatSync(directory);
    if ((mode & ownerMayAll) === ownerMayAll || uid !== process.geteuid?.()) throw error;
    chmodSync(directory, (mode | ownerMayAll) & 0o7777);
    try {
      return change();
    } finally {
      chmodSync(directory, mode & 0o7777);
    }
  }
}
