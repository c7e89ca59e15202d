/**
 * Lets one loop at a time compare the folder with the journal and change either: a look at the disk whose result is not yet
 * journaled, and an action whose result is not yet recorded, must not overlap.
 */
export class FolderLock {
  #tail: Promise<void> = Promise.resolve();

  /** Runs `body` when everyone who asked before is done. A throw frees the lock and reaches the caller. */
  run<T>(body: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(body);
    this.#tail = result.then(
      () => undefined,
      () => undefined,
    );
    return result;
  }
}
