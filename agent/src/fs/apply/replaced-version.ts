import { type ContentId, joinPath, nameOf, parentOf } from '@lockstep/shared';
import { conflictPath } from '../../core/conflict-name.ts';
import type { Fingerprint } from '../../core/entry.ts';
import { stampOfMs } from '../../core/hlc.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import { descending } from '../descent.ts';
import { syncPath } from '../durable.ts';
import { hasContentOf, isRacyAfterPlacing, lstatIfThere } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import { readContent, withFile } from '../read/read-content.ts';
import { removeIfThere } from '../remove.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';
import { type AddedVersion, historyPath, isKept, nameInHistory } from './history.ts';
import { displacedPath, heldPath, type StagedEntry, takenPath, temporaryPath } from './staging.ts';
import type { Target } from './target.ts';

/** The path of an entry in the folder, and the one for system calls. */
export type Placed = Pick<Target, 'path' | 'entry'>;

/** Codes of link(2) on file systems that refuse it, for files of other users, and for inodes with too many names. */
const noLinkCodes = new Set(['EPERM', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EACCES']);

/** Codes of calls at a path whose directory was removed, or is a file now. */
const goneCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR']);

/** Also those of moves to a directory over which a disk was mounted meanwhile, or which may not be written to any more. */
const closedCodes: ReadonlySet<string | undefined> = new Set([...goneCodes, 'EXDEV', 'EACCES', 'EPERM', 'EROFS']);

/** Codes of calls that need room on a disk that has none. */
const fullCodes: ReadonlySet<string | undefined> = new Set(['ENOSPC', 'EDQUOT']);

/** `link`, or false if it is not permitted here. Throws `EEXIST` and other errors. */
function linkIfPermitted(system: SystemCalls, existing: string, name: string): boolean {
  try {
    system.link(existing, name);
    return true;
  } catch (error) {
    if (noLinkCodes.has(errorCodeOf(error) ?? '')) return false;
    throw error;
  }
}

interface Held {
  readonly places: Places;
  /** Undefined if the file system refuses a second name. */
  readonly name: string | undefined;
  readonly expected: Fingerprint;
  /** The content of the expected file, if it is to be kept. */
  readonly keep: ContentId | undefined;
}

/**
 * A second, private name for a file that is about to be replaced. A write between the last check and rename(2) cannot be detected in
 * advance, but the replaced file can be checked afterwards and put back. Its name in history does not suffice: another thread may store the
 * same content under that name at any moment.
 */
export class ReplacedVersion {
  readonly #places: Places;
  readonly #name: string | undefined;
  readonly #expected: Fingerprint;
  readonly #keep: ContentId | undefined;
  /** The version that was added to history. */
  readonly added: AddedVersion | undefined;

  private constructor(held: Held, added: AddedVersion | undefined) {
    this.#places = held.places;
    this.#name = held.name;
    this.#expected = held.expected;
    this.#keep = held.keep;
    this.added = added;
  }

  /** Holds the file at `target`, and adds it to history as `keep` if it is missing there. Undefined if it is not the expected file. */
  static hold(
    places: Places,
    target: string,
    expected: Fingerprint,
    keep: ContentId | undefined,
  ): ReplacedVersion | undefined {
    const { system } = places;
    const name = heldPath(places, expected);
    if (!linkIfPermitted(system, target, name)) {
      const added = keepVersion(places, target, keep);
      // To copy a large file takes long. No name of the agent's own holds it meanwhile.
      if (isExpected(places, target, expected, keep)) {
        return new ReplacedVersion({ places, name: undefined, expected, keep }, added);
      }
      if (added !== undefined) dropIfWrong(places, added.content);
      return undefined;
    }
    if (!isVersion(places, name, expected, keep) || lstatIfThere(system, target)?.ino !== expected.ino) {
      system.unlink(name);
      return undefined;
    }
    try {
      return new ReplacedVersion({ places, name, expected, keep }, keepVersion(places, name, keep));
    } catch (error) {
      forget(system, name);
      throw error;
    }
  }

  isUnchanged(): boolean {
    if (this.#name === undefined) return true;
    return isVersion(this.#places, this.#name, this.#expected, this.#keep);
  }

  /** Ends the hold: the replacement is final, or was not made. */
  release(): void {
    if (this.#name !== undefined) forget(this.#places.system, this.#name);
  }

  /**
   * Undoes a replacement by `source`: `target` is the replaced file again. `target` exists at every moment, unless a user has moved the
   * replacement away, or put an entry at `source`. Returns where the entry is that had the name meanwhile: at `source`, or at another path in
   * staging if `source` was staged.
   */
  putBack(source: string | StagedEntry, target: Placed): string | undefined {
    if (this.#name === undefined) return undefined;
    const displaced =
      typeof source === 'string' ? source : displacedPath(this.#places, this.#expected, source.fingerprint);
    try {
      const isDisplaced = this.#exchange(this.#name, displaced, target);
      this.#dropWrong();
      return isDisplaced ? displaced : undefined;
    } catch (error) {
      if (errorCodeOf(error) === undefined || lstatIfThere(this.#places.system, this.#name) === undefined) throw error;
      // The disk refused it. The next start does not know the file's path any more: now it can become a conflict copy at its side.
      try {
        keepBeside(this.#places, this.#name, target);
      } finally {
        this.#dropWrong();
      }
      throw error;
    }
  }

  #dropWrong(): void {
    if (this.added !== undefined) dropIfWrong(this.#places, this.added.content);
  }

  /** Gives the file at `name` the path `target`. True if the entry there is at `displaced` now. */
  #exchange(name: string, displaced: string, target: Placed): boolean {
    const { system } = this.#places;
    const isDisplaced = linkIfFree(system, target.entry, displaced);
    if (isDisplaced) system.rename(name, target.entry);
    else restore(this.#places, name, target);
    return isDisplaced;
  }
}

/** Adds the file at `name` to history as `keep`. Undefined if history has that version already. */
function keepVersion(places: Places, name: string, keep: ContentId | undefined): AddedVersion | undefined {
  if (keep === undefined) return undefined;
  let isAdded = false;
  try {
    const changedIn = nameInHistory(places, keep, (place) => {
      isAdded = linkIfPermitted(places.system, name, place) || copyToHistory(places, name, keep);
    });
    return isAdded ? { content: keep, changedIn } : undefined;
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
}

/** False if history has that version already, or the file has changed. */
function copyToHistory(places: Places, name: string, keep: ContentId): boolean {
  if (isKept(places, keep)) return false;
  const { system } = places;
  const temporary = temporaryPath(places);
  try {
    system.copyFile(name, temporary);
    if (identify(places, temporary).content !== keep) return false;
    syncPath(system, temporary);
    system.rename(temporary, historyPath(places, keep));
    return true;
  } finally {
    removeIfThere(system, temporary);
  }
}

/** Removes a version from history if its content is another one: a program wrote to the file, or exchanged it, while it was stored. */
export function dropIfWrong(places: Places, keep: ContentId): void {
  const { system } = places;
  const place = historyPath(places, keep);
  const aside = temporaryPath(places);
  try {
    const { ino, content } = identify(places, place);
    if (content === keep) return;
    system.rename(place, aside);
    // Another thread may have stored the right one at this moment.
    if (lstatIfThere(system, aside)?.ino !== ino) linkIfPermitted(system, aside, place);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== 'ENOENT' && code !== 'EEXIST') throw error;
  } finally {
    removeIfThere(system, aside);
  }
}

/** True if the entry at a private name is the expected version: nothing wrote to it. One that cannot be examined may have been written to. */
function isVersion(places: Places, path: string, expected: Fingerprint, content: ContentId | undefined): boolean {
  try {
    const stats = lstatIfThere(places.system, path);
    if (stats === undefined || !hasContentOf(stats, expected)) return false;
    return content === undefined || !isWrittenUnseen(places, path, stats, content);
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return false;
  }
}

/** True if the entry at a path of the folder is the expected version. Call it just before the rename onto that path. */
function isExpected(places: Places, target: string, expected: Fingerprint, content: ContentId | undefined): boolean {
  if (!isVersion(places, target, expected, content)) return false;
  return lstatIfThere(places.system, target)?.ino === expected.ino;
}

/** Removes the private name of a version that is not needed any more. If the disk refuses, the next start removes it. */
function forget(system: SystemCalls, name: string): void {
  try {
    system.unlink(name);
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
  }
}

/**
 * True if a file has other bytes than `content`, although its size and times are those of that content: a write in the same tick of the
 * clock leaves no other trace. One that cannot be read may have.
 */
export function isWrittenUnseen(places: Places, path: string, stats: EntryStats, content: ContentId): boolean {
  if (!isRacyAfterPlacing(stats, places.system.wallMs())) return false;
  try {
    return identify(places, path).content !== content;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return true;
  }
}

/** Reads a file. Its content is undefined if a program is writing it. */
export function identify(
  { system, hash }: Places,
  path: string,
): { readonly ino: number; readonly content: ContentId | undefined } {
  return withFile(system, path, (fd) => {
    const { ino, size } = system.fstat(fd);
    return { ino, content: readContent({ system, hash }, fd, size, 0)?.content };
  });
}

/** An entry that was taken from `target`. */
interface Taken {
  readonly target: Placed;
  /** Its private name. */
  readonly name: string;
  /** The version that was added to history. */
  readonly added: AddedVersion | undefined;
}

/** A file or link that rename(2) moved to a private name. No other program can exchange it, and it can be put back. */
export class TakenVersion {
  readonly #places: Places;
  readonly #name: string;
  readonly #target: Placed;
  /** The version that was added to history. */
  readonly added: AddedVersion | undefined;

  private constructor(places: Places, { name, target, added }: Taken) {
    this.#places = places;
    this.#name = name;
    this.#target = target;
    this.added = added;
  }

  /** Takes the entry at `target`, and adds a file to history as `keep` if it is missing there. Undefined if it is another entry. */
  static take(
    places: Places,
    target: Placed,
    expected: Fingerprint,
    keep: ContentId | undefined,
  ): TakenVersion | undefined {
    const { system } = places;
    // First: a file that exists only in staging is lost if the agent is killed.
    const added = keepVersion(places, target.entry, keep);
    const name = takenPath(places, expected);
    system.rename(target.entry, name);
    if (isVersion(places, name, expected, keep)) {
      return new TakenVersion(places, { name, target, added });
    }
    restore(places, name, target);
    if (added !== undefined) dropIfWrong(places, added.content);
    return undefined;
  }

  /** Removes the version: its name is free, or another entry has it. */
  drop(): void {
    forget(this.#places.system, this.#name);
  }

  /** Restores its name, or makes it a conflict copy if a program created another entry there. */
  putBack(): void {
    restore(this.#places, this.#name, this.#target);
  }
}

/** False if there is nothing at `existing`, or something at `name`. */
function linkIfFree(system: SystemCalls, existing: string, name: string): boolean {
  try {
    system.link(existing, name);
    return true;
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'EEXIST' || goneCodes.has(code)) return false;
    throw error;
  }
}

function restore(places: Places, name: string, target: Placed): void {
  try {
    moveToFree(places.system, name, target.entry);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== 'EEXIST' && !closedCodes.has(code)) throw error;
    // A program created another file there since, without knowledge of this one, or removed or closed the directory.
    keepBeside(places, name, target);
  }
}

/**
 * Moves an entry from a private name to another one. Throws `EEXIST` if that is taken: link(2) fails then, where rename(2) would replace the
 * entry. rename(2) is used where links are refused, and on a disk that has no room for one more name. A private name that cannot be removed
 * stays until the agent starts again.
 */
export function moveToFree(system: SystemCalls, name: string, entry: string): void {
  try {
    if (linkIfPermitted(system, name, entry)) {
      forget(system, name);
      return;
    }
  } catch (error) {
    if (!fullCodes.has(errorCodeOf(error))) throw error;
  }
  if (lstatIfThere(system, entry) !== undefined) throw Object.assign(new Error('taken meanwhile'), { code: 'EEXIST' });
  system.rename(name, entry);
}

/** Moves a user's version out of staging to its path, or to a conflict copy if another entry is there. */
export function keepAt(places: Places, name: string, path: string): void {
  descending(places, (descent) => {
    const entry = descent.entry(path);
    if (entry === undefined) keepAbove(places, name, path);
    else restore(places, name, { path, entry });
  });
}

/** Moves a user's version out of staging, to a conflict copy next to `target`, or nearest above if nothing can be put there any more. */
export function keepBeside(places: Places, name: string, { path, entry }: Placed): void {
  if (refusedCopy(places, name, entry) !== undefined) keepAbove(places, name, path);
}

/** Moves a user's version out of staging, to a conflict copy in the nearest directory above `path`. Throws the refusal of the uppermost one. */
function keepAbove(places: Places, name: string, path: string): void {
  descending(places, (descent) => {
    for (let above = parentOf(path); ; above = parentOf(above)) {
      const directory = descent.directory(above);
      const refusal = directory && refusedCopy(places, name, `${directory.path}/${nameOf(path)}`);
      if (directory !== undefined && refusal === undefined) return;
      if (above === '') throw refusal ?? Object.assign(new Error('the folder was removed'), { code: 'ENOENT' });
    }
  });
}

/**
 * Moves a version to the name of a conflict copy of `entry`. Returns the error if the directory is not there any more, hidden under a mount,
 * or not to be written to.
 */
function refusedCopy({ system, memberName }: Places, name: string, entry: string): unknown {
  for (let stamp = stampOfMs(system.wallMs()); ; stamp++) {
    const copy = joinPath(parentOf(entry), conflictPath(nameOf(entry), stamp, memberName));
    try {
      moveToFree(system, name, copy);
      return undefined;
    } catch (error) {
      const code = errorCodeOf(error);
      if (closedCodes.has(code)) return error;
      if (code !== 'EEXIST') throw error;
    }
  }
}
