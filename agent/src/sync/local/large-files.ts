import type { DirtyPath } from '../../core/detection/settle.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';

/** Callbacks into the loop of local changes. */
interface ReadEvents {
  /** The file was read: a detection journals it if it is unchanged since. */
  readonly read: (unsettled: DirtyPath, seen: Observation & { state: 'file' }) => Promise<void>;
  /** The file changed while it was read. */
  readonly changed: (path: string) => void;
  readonly failed: (unsettled: DirtyPath, error: unknown) => void;
}

/** Large files that are read, or wait to be read, outside the folder lock, one at a time. */
export class LargeFiles {
  readonly #context: Context;
  readonly #on: ReadEvents;
  readonly #waiting = new Map<string, DirtyPath>();
  #isReading = false;
  #stopped = false;

  constructor(context: Context, on: ReadEvents) {
    this.#context = context;
    this.#on = on;
  }

  stop(): void {
    this.#stopped = true;
  }

  get size(): number {
    return this.#waiting.size;
  }

  has(path: string): boolean {
    return this.#waiting.has(path);
  }

  paths(): Iterable<string> {
    return this.#waiting.keys();
  }

  /** Has a file read. */
  add(unsettled: DirtyPath): void {
    this.#waiting.set(unsettled.path, unsettled);
    if (this.#isReading) return;
    this.#isReading = true;
    this.#readAll()
      .catch((error: unknown) => this.#context.log.error({ error: String(error) }, 'reading a large file failed'))
      .finally(() => {
        this.#isReading = false;
      });
  }

  async #readAll(): Promise<void> {
    for (const [path, unsettled] of this.#waiting) {
      if (this.#stopped) return;
      const { folder, lastBoot } = this.#context;
      try {
        const [seen] = await folder.observe([{ path, hashLarge: true, tail: lastBoot.wasCutOff }]);
        this.#waiting.delete(path);
        if (seen?.state === 'file') await this.#on.read(unsettled, seen);
        else this.#on.changed(path);
      } catch (error) {
        this.#waiting.delete(path);
        this.#on.failed(unsettled, error);
      }
    }
  }
}
