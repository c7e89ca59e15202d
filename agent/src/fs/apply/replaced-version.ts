import { constants, copyFileSync, existsSync, fstatSync, linkSync, renameSync, rmSync, unlinkSync } from 'node:fs';
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
 * A second name for a file that is about to be replaced, which nobody else uses. Nobody can see whether a file is written to between the
 * last look and rename(2), but what was replaced can be looked at afterwards, and put back. Its third name is the one in history; that one
 * is shared, for another thread may keep the same content at any moment.
 */
export class ReplacedVersion {
  readonly #places: Places;
  readonly #name: string | undefined;
  readonly #expected: Fingerprint;
  readonly #kept: ContentId | undefined;

  /** `name`: undefined where the file system gives no second name. `kept`: what history has gained. */
  private constructor(places: Places, name: string | undefined, expected: Fingerprint, kept: ContentId | undefined) {
    this.#places = places;
    this.#name = name;
    this.#expected = expected;
    this.#kept = kept;
  }

  /** Holds the file at `target`, in history under `keep` where it is not there yet. Undefined when it is not the expected file. */
  static hold(
    places: Places,
    target: string,
    expected: Fingerprint,
    keep: ContentId | undefined,
  ): ReplacedVersion | undefined {
    const name = temporaryPath(places);
    if (!linkIfPermitted(target, name)) {
      return new ReplacedVersion(places, undefined, expected, keepVersion(places, target, keep));
    }
    const stats = lstatIfThere(name);
    if (stats === undefined || !hasContentOf(stats, expected) || lstatIfThere(target)?.ino !== expected.ino) {
      unlinkSync(name);
      return undefined;
    }
    return new ReplacedVersion(places, name, expected, keepVersion(places, name, keep));
  }

  /** True when history has gained a version. */
  get addedToHistory(): boolean {
    return this.#kept !== undefined;
  }

  isUnchanged(): boolean {
    if (this.#name === undefined) return true;
    const stats = lstatIfThere(this.#name);
    return stats !== undefined && hasContentOf(stats, this.#expected);
  }

  /** The replacement stands, or was not made. */
  release(): void {
    if (this.#name !== undefined) unlinkSync(this.#name);
  }

  /**
   * Undoes a replacement: `target` is again the file that was replaced, and what replaced it is again at `source`. At no
   * moment is there nothing at `target`.
   */
  putBack(source: string, target: string): void {
    if (this.#name === undefined) return;
    linkSync(target, source);
    renameSync(this.#name, target);
    if (this.#kept !== undefined) dropIfWrong(this.#places, this.#kept);
  }
}

/** Gives the file at `name` its place in history under `keep`. Returns that, or undefined where history had that version already. */
function keepVersion(places: Places, name: string, keep: ContentId | undefined): ContentId | undefined {
  if (keep === undefined || existsSync(historyPath(places, keep))) return undefined;
  const place = makeHistoryPlace(places, keep);
  try {
    return linkIfPermitted(name, place) || copyToHistory(places, name, keep) ? keep : undefined;
  } catch (error) {
    // Another thread has kept it in this moment.
    if (errorCodeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

function copyToHistory(places: Places, name: string, keep: ContentId): boolean {
  const temporary = temporaryPath(places);
  try {
    copyFileSync(name, temporary, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
    if (identify(temporary).content !== keep) return false;
    renameSync(temporary, historyPath(places, keep));
    return true;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Removes a version from history that turns out to be another one: a program wrote to the file, or exchanged it, while it was kept. */
function dropIfWrong(places: Places, keep: ContentId): void {
  const place = historyPath(places, keep);
  const aside = temporaryPath(places);
  try {
    const { ino, content } = identify(place);
    if (content === keep) return;
    renameSync(place, aside);
    // Another thread may have put the right one there in this moment.
    if (lstatIfThere(aside)?.ino !== ino) linkIfPermitted(aside, place);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
}

function identify(path: string): { readonly ino: number; readonly content: ContentId | undefined } {
  return withFile(path, (fd) => {
    const { ino, size } = fstatSync(fd);
    return { ino, content: readContent(fd, size, 0)?.content };
  });
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
  // First: a file that is nowhere but in staging is lost when the agent is killed.
  const kept = keepVersion(places, target, keep);
  const name = temporaryPath(places);
  renameSync(target, name);
  const stats = lstatIfThere(name);
  if (stats !== undefined && hasContentOf(stats, expected)) {
    unlinkSync(name);
    return kept === undefined ? 'taken' : 'kept';
  }
  restore(name, target);
  if (kept !== undefined) dropIfWrong(places, kept);
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
