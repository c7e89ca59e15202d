import { chmodSync, type Stats } from 'node:fs';
import { lstatIfThere } from './entry-stat.ts';
import { permissionsOf } from './file-times.ts';
import { errorCodeOf } from './path-problem.ts';

const ownerMayWrite = 0o200;

/** Directories remembered; those above it get what belongs into them when somebody makes them writable. */
const rememberedMax = 10_000;

/**
 * Directories that this agent made without permission to write, as their own member has them: what belongs into them comes
 * after them, and is let in for the moment. One that a user closed here stays closed, and is a problem.
 */
export class ReadOnlyDirectories {
  readonly #modes = new Map<number, number>();

  /** A directory was made. */
  made(stats: Stats): void {
    if ((stats.mode & ownerMayWrite) === 0 && this.#modes.size < rememberedMax) this.#modes.set(stats.ino, stats.mode);
  }

  /** Runs `change`, once more with these directories open when it was refused and they are ours to open. */
  opened<T>(directories: readonly string[], change: () => T): T {
    try {
      return change();
    } catch (error) {
      if (errorCodeOf(error) !== 'EACCES') throw error;
      const opened = directories.filter((directory) => this.#open(directory));
      if (opened.length === 0) throw error;
      try {
        return change();
      } finally {
        for (const directory of opened) this.#close(directory);
      }
    }
  }

  #open(directory: string): boolean {
    const stats = lstatIfThere(directory);
    if (stats === undefined || this.#modes.get(stats.ino) !== stats.mode) return false;
    chmodSync(directory, permissionsOf(stats.mode) | ownerMayWrite);
    return true;
  }

  #close(directory: string): void {
    const stats = lstatIfThere(directory);
    const mode = stats && this.#modes.get(stats.ino);
    if (mode !== undefined) chmodSync(directory, permissionsOf(mode));
  }
}
