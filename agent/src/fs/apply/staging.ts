import { constants } from 'node:fs';
import { blockBytes, type ContentId, fileTimeStepMsMax, freeBytesMin } from '@lockstep/shared';
import { inodesOf, inodesReserve } from '../../core/disk-room.ts';
import { type Fingerprint, isDirectoryMode } from '../../core/entry.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { Action, ActionResult, ContentSource } from '../../sync/ports/folder.ts';
import { Descent } from '../descent.ts';
import { isWorthSyncingTogether, syncPath } from '../durable.ts';
import { fingerprintOf, hasContentOf, hasFingerprint, lstatIfThere, mtimeUsOf } from '../entry-stat.ts';
import type { FaultPoint } from '../fault-point.ts';
import { problemOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { contentFileName, hashBytes } from '../read/content-id.ts';
import { readContent, withFile } from '../read/read-content.ts';
import { removeIfThere } from '../remove.ts';
import type { SystemCalls } from '../system-calls.ts';
import { historyPath } from './history.ts';
import { obstacleAt, obstacleIn } from './obstacle.ts';
import { permissionsOf } from './permissions.ts';
import { writeFully } from './write-bytes.ts';

type WriteAction = Extract<Action, { do: 'write' }>;
type SymlinkAction = Extract<Action, { do: 'symlink' }>;
type TimeAction = Extract<Action, { do: 'attr' | 'rename' }>;

/** An entry in staging, ready to be renamed into place: complete, verified, with its mode and time. */
export interface StagedEntry {
  readonly temporary: string;
  readonly fingerprint: Fingerprint;
  /** True for a draft, and for a file that blocks were staged into: it must survive if the action is not done. */
  readonly borrowed: boolean;
}

/** For each action: the staged entry, the reason for a failure, or undefined if nothing is staged. */
export type StageOutcome = StagedEntry | ActionResult | undefined;

export function isStaged(outcome: StageOutcome): outcome is StagedEntry {
  return outcome !== undefined && 'temporary' in outcome;
}

/** The source no longer has the content. */
class SourceGone extends Error {}

const createFlags = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** A file may only be read by the agent until it has its own mode. */
export const stagedMode = 0o600;

/** A new path in staging, unused since the agent started. */
export function temporaryPath(places: Places): string {
  return `${places.staging}/${places.temporaryName()}`;
}

/**
 * A new path in staging for a second name of a file. It says what the file's change time was, which that name moves, and the present time. It
 * says the file's size and modification time, too. So a start that finds the name can tell whether a user has changed the file since.
 */
export function heldPath(places: Places, { ctimeMs, size, mtimeMs }: HeldFile): string {
  return `${temporaryPath(places)}-changed-${ctimeMs}-held-${places.system.wallMs()}-of-${size}-${mtimeMs}`;
}

type HeldFile = Pick<Fingerprint, 'ctimeMs' | 'size' | 'mtimeMs'>;

const heldName = /-changed-([\d.]+)-held-([\d.]+)-of-(\d+)-(-?[\d.]+)$/;

/** The size and modification time that a file had when it got this name in staging, by `heldPath`. Undefined for other names. */
export function writingBefore(name: string): Pick<Fingerprint, 'size' | 'mtimeMs'> | undefined {
  const found = heldName.exec(name);
  return found === null ? undefined : { size: Number(found[3]), mtimeMs: Number(found[4]) };
}

/** The change time that a file with this name in staging had, by `heldPath`. Undefined if it was changed again since it got that name. */
export function changeTimeBefore(name: string, stats: Pick<Fingerprint, 'ctimeMs'>): number | undefined {
  const [, changedMs, heldMs] = heldName.exec(name) ?? [];
  return Math.abs(stats.ctimeMs - Number(heldMs)) < fileTimeStepMsMax ? Number(changedMs) : undefined;
}

/**
 * A new path in staging for an entry that is taken from its name in the folder. It says which inode is expected there: a start that finds
 * another one knows that a user put it at the name in the last moment.
 */
export function takenPath(places: Places, { ino }: Pick<Fingerprint, 'ino'>): string {
  return `${temporaryPath(places)}-taken-${ino}`;
}

/**
 * A new path in staging for the entry that is taken from its name again because it should not have replaced the `replaced` one. It is
 * `staged`, unless a user put another one there, or changed it.
 */
export function displacedPath(places: Places, replaced: Fingerprint, staged: Fingerprint): string {
  const { ino, size, mtimeMs, mode } = staged;
  return `${takenPath(places, replaced)}-by-${ino}-${size}-${mtimeMs}-${mode}`;
}

/** The meaning of a path of `takenPath` or `displacedPath`. */
export interface TakenName {
  /** The inode number of the entry that the journal has at the path in the folder. */
  readonly ino: number;
  /** The staged entry, whose time may hide a write. Undefined for `takenPath`. */
  readonly staged: Pick<Fingerprint, 'ino' | 'size' | 'mtimeMs' | 'mode'> | undefined;
}

/** Undefined for other paths than those of `takenPath` and `displacedPath`. */
export function takenName(name: string): TakenName | undefined {
  const found = /-taken-(\d+)(?:-by-(\d+)-(\d+)-(-?[\d.]+)-(\d+))?$/.exec(name);
  if (found === null) return undefined;
  const [ino = 0, stagedIno, size = 0, mtimeMs = 0, mode = 0] = found.slice(1).map(Number);
  const isStaged = found[2] !== undefined && stagedIno !== undefined;
  return { ino, staged: isStaged ? { ino: stagedIno, size, mtimeMs, mode } : undefined };
}

/** The staging file for the blocks of `content`. */
export function blockFilePath(places: Places, content: ContentId): string {
  return `${places.staging}/${contentFileName(content)}`;
}

/** The path of a draft in staging. */
export function draftPath(places: Places, name: string): string {
  return `${places.staging}/${name}`;
}

/** Free bytes that may be used: without the reserve for the journal and the user. Negative if not even an empty file may be made. */
export function roomBytes(places: Places): number {
  const { bytes, files } = roomOf(places);
  return files > 0 ? bytes : -1;
}

/** The bytes and the files that may be made. */
function roomOf(places: Places): { bytes: number; files: number } {
  const { bavail, bsize, ...stats } = places.system.statfs(places.state);
  const inodes = inodesOf(stats);
  const files = inodes === undefined ? Number.POSITIVE_INFINITY : inodes.free - inodesReserve(inodes);
  return { bytes: bavail * bsize - freeBytesMin, files };
}

/** Stages and verifies all entries of a batch of actions, and makes them durable. Afterwards only names change. */
export class Staging {
  readonly #places: Places;
  readonly #system: SystemCalls;
  readonly #fault: FaultPoint | undefined;
  readonly #descent: Descent;
  #room = { bytes: 0, files: 0 };
  #syncEach = true;

  constructor(places: Places, fault: FaultPoint | undefined) {
    this.#places = places;
    this.#system = places.system;
    this.#fault = fault;
    this.#descent = new Descent(places);
  }

  stage(actions: readonly Action[]): StageOutcome[] {
    try {
      return this.#stageAll(actions);
    } finally {
      this.#descent.close();
    }
  }

  #stageAll(actions: readonly Action[]): StageOutcome[] {
    const writes = actions.filter((action) => action.do === 'write');
    if (writes.length > 0) {
      try {
        this.#room = roomOf(this.#places);
      } catch (error) {
        return actions.map((action) => ({
          result: 'problem',
          ...problemOf(error, 'path' in action ? action.path : action.to),
        }));
      }
    }
    this.#syncEach = !isWorthSyncingTogether(this.#system, writes.length);
    // The last write of a content staged as blocks takes the file itself. Writes before it copy the file.
    const takers = new Map(
      writes.filter(({ source }) => source.from === 'staged').map((write) => [write.content, write]),
    );
    const outcomes = actions.map((action): StageOutcome => {
      if (action.do === 'write') return this.#stageOne(action, () => this.#stageWrite(action, takers));
      if (action.do === 'symlink') return this.#stageOne(action, () => this.#stageSymlink(action));
      if (action.do === 'attr' || action.do === 'rename') return this.#checkWhole(action);
      return undefined;
    });
    return this.#syncEach ? outcomes : this.#syncAll(actions, outcomes);
  }

  /** Removes a staged entry that was not used. A file of blocks stays for the next attempt. */
  discard(outcome: StageOutcome): void {
    if (!isStaged(outcome)) return;
    try {
      this.#remove(outcome);
    } catch (error) {
      // It is removed when the agent starts again. The rest of the batch must still be recorded.
      if (errorCodeOf(error) === undefined) throw error;
    }
  }

  #remove(outcome: StagedEntry): void {
    if (!outcome.borrowed) removeIfThere(this.#system, outcome.temporary);
    else if (lstatIfThere(this.#system, outcome.temporary)?.nlink === 1)
      this.#system.chmod(outcome.temporary, stagedMode);
  }

  #stageOne(action: WriteAction | SymlinkAction, stage: () => StageOutcome): StageOutcome {
    this.#fault?.('stage');
    try {
      const { path, expected } = action;
      const makesRoom = expected !== 'absent' && isDirectoryMode(expected.mode);
      const obstacle = makesRoom ? obstacleIn(this.#places, path) : obstacleAt(this.#places, this.#descent, path);
      return obstacle === undefined ? stage() : { result: 'problem', ...obstacle };
    } catch (error) {
      if (error instanceof SourceGone) {
        // A kept version with a wrong hash was written to through a descriptor that a program still had open.
        if (action.do === 'write' && action.source.from === 'history') {
          removeIfThere(this.#system, historyPath(this.#places, action.content));
        }
        return { result: 'source-gone' };
      }
      return { result: 'problem', ...problemOf(error, action.path) };
    }
  }

  /**
   * Reads a file whose time is to be set. Setting it hides a write just before, so the file is read afterwards too. Damage that is only
   * found then would look like that write, and be published [MT21]. Undefined if the file is whole, or is not the expected one.
   */
  #checkWhole(action: TimeAction): ActionResult | undefined {
    const { content, mtimeUs } = action;
    if (content === undefined || mtimeUs === undefined) return undefined;
    const [path, expected] = action.do === 'attr' ? [action.path, action.expected] : [action.from, action.expectedFrom];
    try {
      const found = this.#descent.find(path);
      if (found === undefined || !hasFingerprint(found.stats, expected)) return undefined;
      const isWhole = fromSource(() =>
        withFile(this.#system, found.entry, (fd) => {
          if (mtimeUsOf(this.#system, fd) === mtimeUs) return true;
          return readContent(this.#places, fd, expected.size, 0)?.content === content;
        }),
      );
      return isWhole ? undefined : { result: 'source-gone' };
    } catch (error) {
      // It is gone, or it cannot be read: then it cannot be published either.
      if (error instanceof SourceGone) return undefined;
      return { result: 'problem', ...problemOf(error, path) };
    }
  }

  #stageSymlink(action: SymlinkAction): StagedEntry {
    const temporary = temporaryPath(this.#places);
    this.#system.symlink(action.target, temporary);
    this.#system.lutimes(temporary, action.mtimeUs);
    return this.#entry(temporary, false);
  }

  #stageWrite(action: WriteAction, takers: ReadonlyMap<ContentId, WriteAction>): StageOutcome {
    const { source, path } = action;
    if (source.from === 'draft') return this.#take(action, draftPath(this.#places, source.name));
    if (source.from === 'staged' && takers.get(action.content) === action) {
      return this.#take(action, blockFilePath(this.#places, action.content));
    }
    if (action.size > this.#room.bytes || this.#room.files <= 0)
      return { result: 'problem', ...problemOf(noSpace(), path) };
    this.#room.bytes -= action.size;
    this.#room.files--;
    if (source.from === 'bytes') {
      if (
        source.bytes.length !== action.size ||
        hashBytes(source.bytes, this.#places.hash).content !== action.content
      ) {
        return {
          result: 'problem',
          code: 'content-corrupt',
          detail: `The bytes that came for ${path} are not its content.`,
        };
      }
      return this.#create(action, (fd) => writeFully(this.#system, fd, source.bytes));
    }
    const from = this.#sourcePath(source, action.content);
    if (action.size > blockBytes) return this.#copyLarge(action, from);
    const bytes = readSource(this.#places, from, action);
    return this.#create(action, (fd) => writeFully(this.#system, fd, bytes));
  }

  /** The path of a content. A path in the folder must not lead through a link. */
  #sourcePath(source: Exclude<ContentSource, { from: 'bytes' | 'draft' }>, content: ContentId): string {
    if (source.from === 'staged') return blockFilePath(this.#places, content);
    if (source.from === 'history') return historyPath(this.#places, content);
    const found = this.#descent.find(source.path);
    if (!found?.stats.isFile() || !hasContentOf(found.stats, source.fingerprint)) throw new SourceGone();
    return found.entry;
  }

  /**
   * Takes a file in staging whose blocks were verified, or hashed, when they were written. A file with another name is in the folder
   * already: its name here could not be removed.
   */
  #take(action: WriteAction, temporary: string): StagedEntry {
    return fromSource(() =>
      withFile(this.#system, temporary, (fd) => {
        const { size, nlink } = this.#system.fstat(fd);
        if (size !== action.size || nlink !== 1) throw new SourceGone();
        return this.#finish(fd, action, temporary, true);
      }),
    );
  }

  #create(action: WriteAction, fill: (fd: number) => void): StagedEntry {
    const temporary = temporaryPath(this.#places);
    const fd = this.#system.open(temporary, createFlags, stagedMode);
    try {
      fill(fd);
      return this.#finish(fd, action, temporary, false);
    } catch (error) {
      removeIfThere(this.#system, temporary);
      throw error;
    } finally {
      this.#system.close(fd);
    }
  }

  /** Copies within the file system, with shared blocks if it can do that, and verifies the copy. */
  #copyLarge(action: WriteAction, from: string): StagedEntry {
    const temporary = temporaryPath(this.#places);
    try {
      fromSource(() => this.#system.copyFile(from, temporary));
      return withFile(this.#system, temporary, (fd) => {
        if (this.#system.fstat(fd).size !== action.size) throw new SourceGone();
        if (readContent(this.#places, fd, action.size, 0)?.content !== action.content) throw new SourceGone();
        return this.#finish(fd, action, temporary, false);
      });
    } catch (error) {
      removeIfThere(this.#system, temporary);
      throw error;
    }
  }

  #finish(fd: number, action: WriteAction, temporary: string, borrowed: boolean): StagedEntry {
    this.#system.fchmod(fd, permissionsOf(action.mode));
    this.#system.futimes(fd, action.mtimeUs);
    if (this.#syncEach) {
      this.#fault?.('fsync');
      this.#system.fsync(fd);
    }
    return { temporary, fingerprint: fingerprintOf(this.#system.fstat(fd)), borrowed };
  }

  #entry(temporary: string, borrowed: boolean): StagedEntry {
    const stats = lstatIfThere(this.#system, temporary);
    if (stats === undefined) throw new SourceGone();
    return { temporary, fingerprint: fingerprintOf(stats), borrowed };
  }

  /** A failed fsync fails the action: bytes that may not be on the disk never count as durable. */
  #syncAll(actions: readonly Action[], outcomes: readonly StageOutcome[]): StageOutcome[] {
    this.#fault?.('fsync');
    if (this.#system.syncFileSystem(this.#places.state)) return outcomes.slice();
    return outcomes.map((outcome, index) => {
      const action = actions[index];
      if (!isStaged(outcome) || action?.do !== 'write') return outcome;
      try {
        syncPath(this.#system, outcome.temporary);
        return outcome;
      } catch (error) {
        this.discard(outcome);
        return { result: 'problem', ...problemOf(error, action.path) };
      }
    });
  }
}

function noSpace(): Error {
  return Object.assign(new Error('less than the reserve would be left free'), { code: 'ENOSPC' });
}

function readSource(places: Places, from: string, action: WriteAction): Uint8Array {
  const read = fromSource(() =>
    withFile(places.system, from, (fd) => readContent(places, fd, action.size, action.size)),
  );
  if (read?.bytes === undefined || read.content !== action.content) throw new SourceGone();
  return read.bytes;
}

/** Runs `read`, whose expected errors all mean that the source is gone. */
function fromSource<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP' || code === 'EACCES') throw new SourceGone();
    throw error;
  }
}
