import type { DirtyPath } from '../../core/detection/settle.ts';
import type { Observation } from '../ports/observation.ts';
import type { Context } from '../state/context.ts';

/** Callbacks into the loop of local changes. */
interface ReadEvents {
  /** The file was read in `spentMs`: a detection journals it if it is unchanged since. */
  readonly read: (unsettled: DirtyPath, seen: Observation & { state: 'file' }, spentMs: number) => Promise<void>;
  /** The file changed while it was read. That read ended after `spentMs`. */
  readonly changed: (unsettled: DirtyPath, spentMs: number) => void;
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
      const { clock, folder, lastBoot } = this.#context;
      const beganMs = clock.monotonicMs();
      try {
        const [seen] = await folder.observe([{ path, hashLarge: true, tail: lastBoot.wasCutOff }]);
        this.#waiting.delete(path);
        const spentMs = clock.monotonicMs() - beganMs;
        if (seen?.state === 'file') await this.#on.read(unsettled, seen, spentMs);
        else this.#on.changed(unsettled, spentMs);
      } catch (error) {
        this.#waiting.delete(path);
        this.#on.failed(unsettled, error);
      }
    }
  }
}
