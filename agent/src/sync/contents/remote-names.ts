import { isLive, type Operation, parentOf } from '@lockstep/shared';
import type { Journal } from '../ports/journal.ts';
import type { RemoteCounters } from '../ports/remote-counters.ts';

/**
 * The names that are about to be remote, because the old file is being removed: its row cannot name the new version before that is done.
 * They count as remote already, so that a file that was there and will be is never missing.
 */
export class RemoteNames {
  readonly #journal: Journal;
  readonly #counters: RemoteCounters | undefined;
  readonly #leaving = new Set<string>();

  constructor(journal: Journal, counters: RemoteCounters | undefined) {
    this.#journal = journal;
    this.#counters = counters;
  }

  /** Runs `removing`, which removes the files at these paths and writes their rows. */
  async whileLeaving<Result>(paths: readonly string[], removing: () => Promise<Result>): Promise<Result> {
    try {
      for (const path of paths) {
        this.#counters?.raise(parentOf(path));
        this.#leaving.add(path);
      }
      return await removing();
    } finally {
      for (const path of paths) this.#leaving.delete(path);
    }
  }

  /** The versions that take the place of the files that are being removed directly in `directory`. */
  leaving(directory: string): readonly Operation[] {
    const paths = [...this.#leaving].filter((path) => parentOf(path) === directory);
    return paths.flatMap((path) => this.leavingAt(path) ?? []);
  }

  /** The one at `path`. */
  leavingAt(path: string): Operation | undefined {
    const [head] = this.#leaving.has(path) ? this.#journal.heads.at(path) : [];
    return head !== undefined && isLive(head) ? head : undefined;
  }
}
