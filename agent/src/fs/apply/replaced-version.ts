import { constants, copyFileSync, existsSync, linkSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import type { ContentId } from '@lockstep/shared';
import type { Fingerprint } from '../../core/entry.ts';
import { hasContentOf, lstatIfThere } from '../entry-stat.ts';
import { errorCodeOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { readContent, withFile } from '../read/read-content.ts';
import { historyPath, makeHistoryPlace } from './history.ts';
import { temporaryPath } from './staging.ts';

/** link(2) is refused by some file systems, by the kernel for files of others, and for inodes with very many names. */
const noLinkCodes = new Set(['EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EACCES']);

/** `link`, or false where that is not permitted here. `EEXIST` and other errors are thrown. */
export function linkIfPermitted(existing: string, name: string): boolean {
  try {
    linkSync(existing, name);
    return true;
  } catch (error) {
    if (noLinkCodes.has(errorCodeOf(error) ?? '')) return false;
    throw error;
  }
}

/**
 * A second name for a file that is about to be replaced. Its first use is history. The other is certainty: nobody can see
 * whether a file is written to between the last look and rename(2), but what was replaced can be looked at afterwards.
 */
export class ReplacedVersion {
  readonly #places: Places;
  readonly #name: string | undefined;
  readonly #expected: Fingerprint;
  readonly #inHistory: boolean;

  private constructor(places: Places, name: string | undefined, expected: Fingerprint, inHistory: boolean) {
    this.#places = places;
    this.#name = name;
    this.#expected = expected;
    this.#inHistory = inHistory;
  }

  /** Holds the file at `target`, in history under `keep` where it is not there yet. Undefined when it is not the expected file. */
  static hold(
    places: Places,
    target: string,
    expected: Fingerprint,
    keep: ContentId | undefined,
  ): ReplacedVersion | undefined {
    const kept = placeToKeep(places, keep);
    const inHistory = kept !== undefined;
    const name = kept ?? temporaryPath(places);
    if (!linkIfPermitted(target, name)) {
      if (inHistory && keep !== undefined) copyToHistory(places, target, keep, kept);
      return new ReplacedVersion(places, undefined, expected, inHistory);
    }
    const held = new ReplacedVersion(places, name, expected, inHistory);
    const now = lstatIfThere(target);
    if (held.isUnchanged() && now?.ino === expected.ino) return held;
    unlinkSync(name);
    return undefined;
  }

  /** True when history has gained a version. */
  get addedToHistory(): boolean {
    return this.#inHistory;
  }

  isUnchanged(): boolean {
    if (this.#name === undefined) return true;
    const stats = lstatIfThere(this.#name);
    return stats !== undefined && hasContentOf(stats, this.#expected);
  }

  /** The replacement stands: the second name is only needed in history. */
  release(): void {
    if (this.#name !== undefined && !this.#inHistory) unlinkSync(this.#name);
  }

  /**
   * Undoes a replacement: `target` is again the file that was replaced, and what replaced it is again at `source`. At no
   * moment is there nothing at `target`.
   */
  putBack(source: string, target: string): void {
    if (this.#name === undefined) return;
    linkSync(target, source);
    const again = temporaryPath(this.#places);
    linkSync(this.#name, again);
    renameSync(again, target);
    unlinkSync(this.#name);
  }
}

/** Where a version is to go that history does not hold yet; undefined when it does, or when nothing is to be kept. */
function placeToKeep(places: Places, keep: ContentId | undefined): string | undefined {
  return keep === undefined || existsSync(historyPath(places, keep)) ? undefined : makeHistoryPlace(places, keep);
}

function copyToHistory(places: Places, target: string, keep: ContentId, kept: string): void {
  const temporary = temporaryPath(places);
  try {
    copyFileSync(target, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    const same = withFile(temporary, (fd) => {
      const size = lstatIfThere(temporary)?.size ?? 0;
      return readContent(fd, size, 0)?.content === keep;
    });
    if (same) renameSync(temporary, kept);
  } finally {
    rmSync(temporary, { force: true });
  }
}

/**
 * Takes the file or link at `target` away, into history under `keep` where it is a file that is not there yet. It goes by
 * rename(2), so that it can be looked at once nobody can exchange it any more, and put back if it was not the expected one.
 */
export function takeAway(
  places: Places,
  target: string,
  expected: Fingerprint,
  keep: ContentId | undefined,
): 'taken' | 'kept' | 'changed' {
  const kept = placeToKeep(places, keep);
  const toHistory = kept !== undefined;
  const name = kept ?? temporaryPath(places);
  renameSync(target, name);
  const stats = lstatIfThere(name);
  if (stats !== undefined && hasContentOf(stats, expected)) {
    if (!toHistory) unlinkSync(name);
    return toHistory ? 'kept' : 'taken';
  }
  restore(name, target);
  return 'changed';
}

function restore(name: string, target: string): void {
  try {
    if (linkIfPermitted(name, target)) unlinkSync(name);
    else if (lstatIfThere(target) === undefined) renameSync(name, target);
  } catch (error) {
    // Somebody has put a newer version there since: that is the one the user wants.
    if (errorCodeOf(error) !== 'EEXIST') throw error;
    unlinkSync(name);
  }
}
