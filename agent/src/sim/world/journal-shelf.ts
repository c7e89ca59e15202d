import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, if there is one: simulated journals need not outlive the run, and fsync is free. */
const sharedMemory = '/dev/shm';

/** The files of journals that can be set back: SQLite databases, which can be copied at any moment. */
export class JournalShelf {
  #directory: string | undefined;
  #count = 0;

  /** A path for a new journal. */
  next(): string {
    this.#directory ??= mkdtempSync(join(existsSync(sharedMemory) ? sharedMemory : tmpdir(), 'lockstep-sim-'));
    return join(this.#directory, `${++this.#count}.db`);
  }

  /** Copies the present journal at `path`, open or closed. Returns the path of the copy. */
  copy(path: string): string {
    const copy = this.next();
    for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    return copy;
  }

  /** Removes all journals. */
  clear(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }
}
