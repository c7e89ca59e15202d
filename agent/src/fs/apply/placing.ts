import type { ContentId } from '@lockstep/shared';
import type { Fingerprint } from '../../core/entry.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { Expected, ReleasedFile } from '../../sync/ports/folder.ts';
import { fingerprintOf, hasContentOf, isOneInode, lstatIfThere } from '../entry-stat.ts';
import type { FaultPoint } from '../fault-point.ts';
import type { Places } from '../places.ts';
import type { EntryStats, OpenDirectory, SystemCalls } from '../system-calls.ts';
import { keptPermissions } from './attributes.ts';
import type { AddedVersion } from './history.ts';
import {
  isWrittenUnseen,
  keepBeside,
  moveToFree,
  type Placed,
  ReplacedVersion,
  TakenVersion,
} from './replaced-version.ts';
import type { StagedEntry } from './staging.ts';

/** A staged entry, and the content of a file. */
export type StagedSource = StagedEntry & { readonly content: ContentId | undefined };

/** The new entry of a replacement: a staged one, or the one at this path in the folder. */
type Source = string | StagedSource;

/** Gives an entry its name, and takes the name from the entry that had it. No call loses an entry that a user made since the check. */
export class Placing {
  /** The version that was added to history. */
  added: AddedVersion | undefined;
  /** The file that lost a name in `.lockstep` again, because it could not be replaced or taken away. */
  released: ReleasedFile | undefined;
  readonly #places: Places;
  readonly #system: SystemCalls;
  readonly #fault: FaultPoint | undefined;

  constructor(places: Places, fault: FaultPoint | undefined) {
    this.#places = places;
    this.#system = places.system;
    this.#fault = fault;
  }

  /** Throws `EEXIST` if an entry appeared at `target` since the check. */
  placeAsNew(source: string, target: string): void {
    this.#fault?.('rename');
    moveToFree(this.#system, source, target);
  }

  /**
   * Replaces by one rename(2) of a staged entry, or of one in the folder. The old version goes to history. False if it was not the expected
   * one. A staged entry that a user edited or replaced while it had the name is a conflict copy then.
   */
  replace(source: Source, target: Placed, expected: Fingerprint, keep: ContentId | undefined): boolean {
    this.#fault?.('keep');
    const replaced = this.#orReleased(target, expected, () =>
      ReplacedVersion.hold(this.#places, target.entry, expected, keep),
    );
    if (replaced === undefined) return false;
    this.#fault?.('rename');
    const isStaged = typeof source !== 'string';
    this.#orReleased(target, expected, () => {
      try {
        this.#system.rename(isStaged ? source.temporary : source, target.entry);
      } catch (error) {
        replaced.release();
        throw error;
      }
    });
    if (!replaced.isUnchanged()) {
      const displaced = replaced.putBack(source, target);
      if (isStaged && displaced !== undefined) this.#keepIfEdited(displaced, source, target);
      return false;
    }
    replaced.release();
    this.added = replaced.added;
    return true;
  }

  /** Keeps an entry as a conflict copy, unless it is the staged one. That is staged again. */
  #keepIfEdited(displaced: string, { temporary, fingerprint, content }: StagedSource, target: Placed): void {
    const stats = lstatIfThere(this.#system, displaced);
    if (stats === undefined) return;
    const isWritten = content !== undefined && isWrittenUnseen(this.#places, displaced, stats, content);
    if (isWritten || !hasContentOf(stats, fingerprint)) keepBeside(this.#places, displaced, target);
    else this.#system.rename(displaced, temporary);
  }

  /** Takes the file at `target` away; it goes to history. Undefined if it was not the expected one. */
  take(target: Placed, expected: Fingerprint, keep: ContentId | undefined): TakenVersion | undefined {
    this.#fault?.('remove');
    const taken = this.#orReleased(target, expected, () => TakenVersion.take(this.#places, target, expected, keep));
    this.added = taken?.added;
    return taken;
  }

  /**
   * Makes a directory, in place of a file or link if one is expected. Undefined if that was not the expected one, or if a user moved the
   * directory away or removed it at once. Its row stays then, so the file or link gets its name back. It gets that of a conflict copy if a
   * user has put another entry there: they replaced the directory, and not the file or link.
   */
  makeDirectory(
    target: Placed,
    expected: Expected,
    { mode, keep }: { readonly mode: number; readonly keep: ContentId | undefined },
  ): MadeDirectory | undefined {
    const taken = expected === 'absent' ? undefined : this.take(target, expected, keep);
    if (expected !== 'absent' && taken === undefined) return undefined;
    this.#fault?.('rename');
    this.#orReleased(target, expected, () => {
      try {
        this.#system.mkdir(target.entry, mode);
      } catch (error) {
        taken?.putBack();
        throw error;
      }
    });
    let made: MadeDirectory | undefined;
    try {
      made = this.#withMode(target.entry, mode);
      return made;
    } finally {
      if (made === undefined) taken?.putBack();
      else taken?.drop();
    }
  }

  /** Runs `change`. If it fails, the file at `target` is still the expected one, and names that it had for a moment moved its change time. */
  #orReleased<T>(target: Placed, expected: Expected, change: () => T): T {
    try {
      return change();
    } catch (error) {
      const after = expected === 'absent' ? undefined : lstatOrUnknown(this.#system, target.entry);
      if (expected !== 'absent' && after !== undefined) {
        this.released = { before: expected, after: fingerprintOf(after) };
      }
      throw error;
    }
  }

  /** Gives the mode to a directory that was just made: the umask of the process has cleared bits. Undefined if it is not there any more. */
  #withMode(entry: string, mode: number): MadeDirectory | undefined {
    let directory: OpenDirectory;
    try {
      directory = this.#system.openDirectory(entry);
    } catch (error) {
      const code = errorCodeOf(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw error;
    }
    try {
      this.#system.chmod(directory.path, mode);
      const stats = lstatIfThere(this.#system, entry);
      if (stats === undefined || !isOneInode(stats, directory.stats)) return undefined;
      return { stats, mode: keptPermissions(mode, { before: directory.stats.mode, after: stats.mode }) };
    } finally {
      directory.close();
    }
  }
}

/** A directory that was made, and the permissions that the file system kept of those that it was given. */
interface MadeDirectory {
  readonly stats: EntryStats;
  readonly mode: number;
}

function lstatOrUnknown(system: SystemCalls, path: string): EntryStats | undefined {
  try {
    return lstatIfThere(system, path);
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
