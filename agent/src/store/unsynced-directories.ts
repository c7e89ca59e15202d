import { parentOf } from '@lockstep/shared';
import { type DiskEntry, isDirectoryMode, mayBeSameInode } from '../core/entry.ts';
import type { JournalDatabase } from './database.ts';
import { rangeBelow } from './path-range.ts';
import type { Statement } from './statement.ts';

/**
 * The directories whose rows are `unsynced`. A power cut may remove such a directory, or move it back to where its user moved it from, with
 * all that is in it. So no entry below it is durable, although its own bytes and name are: its row is `unsynced` too.
 */
export class UnsyncedDirectories {
  readonly #all: Statement<{ path: string; mode: number }>;
  readonly #markBelow: Statement;
  /** Undefined if unknown. Empty nearly always, so that the directories above an entry need not be read. */
  #paths: Set<string> | undefined;

  constructor(database: JournalDatabase) {
    this.#all = database.statement(
      'SELECT path, mode FROM disk INDEXED BY disk_unsynced WHERE unsynced IS NOT NULL AND ino IS NOT NULL',
    );
    this.#markBelow = database.statement(
      'UPDATE disk SET unsynced = ? WHERE path >= ? AND path < ? AND ino IS NOT NULL AND unsynced IS NULL',
    );
  }

  /** Rows were changed by other means than `written`: a sync has ended, or a transaction was rolled back. */
  forget(): void {
    this.#paths = undefined;
  }

  /** True if a directory above the path is one of them. */
  areAbove(path: string): boolean {
    const paths = this.#known();
    if (paths.size === 0) return false;
    for (let above = parentOf(path); above !== ''; above = parentOf(above)) if (paths.has(above)) return true;
    return false;
  }

  /**
   * A row was written. If it is that of a directory which is new there, marks the rows below with `mark`: its user may have moved it away
   * and back. Another mode or time of a directory says nothing of its name. Returns the number of rows that were marked.
   */
  written({
    before,
    now,
    mark,
  }: {
    readonly before: DiskEntry | undefined;
    readonly now: DiskEntry;
    mark(): number;
  }): number {
    const { path, fingerprint } = now;
    if (!now.unsynced || fingerprint === undefined || !isDirectoryMode(fingerprint.mode)) {
      this.#paths?.delete(path);
      return 0;
    }
    this.#paths?.add(path);
    if (before?.fingerprint !== undefined && mayBeSameInode(before.fingerprint, fingerprint)) return 0;
    const { from, to } = rangeBelow(path);
    return this.#markBelow.run(mark(), from, to);
  }

  /** The row of the path was removed. */
  removed(path: string): void {
    this.#paths?.delete(path);
  }

  #known(): ReadonlySet<string> {
    this.#paths ??= new Set(this.#all.all().flatMap(({ path, mode }) => (isDirectoryMode(mode) ? [path] : [])));
    return this.#paths;
  }
}
