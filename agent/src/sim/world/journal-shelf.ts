import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A file system in memory, where there is one: a simulated machine's journal need not outlive the run, and no fsync waits there. */
const sharedMemory = '/dev/shm';

/** Where the journals of one run lie that are to be set back: SQLite's own files, which can be copied at any moment. */
export class JournalShelf {
  #directory: string | undefined;
  #count = 0;

  /** A path for a new journal. */
  next(): string {
    this.#directory ??= mkdtempSync(join(existsSync(sharedMemory) ? sharedMemory : tmpdir(), 'lockstep-sim-'));
    return join(this.#directory, `${++this.#count}.db`);
  }

  /** A copy of the journal at `path` as it is now, whether or not it is open. Returns its path. */
  copy(path: string): string {
    const copy = this.next();
    for (const suffix of ['', '-wal']) if (existsSync(path + suffix)) copyFileSync(path + suffix, copy + suffix);
    return copy;
  }

  /** Removes all of them. */
  clear(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
  }
}
