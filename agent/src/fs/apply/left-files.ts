import { type ContentId, fileTimeStepMsMax, nameOf } from '@lockstep/shared';
import { type DiskEntry, isSameWriting, mayBeSameInode } from '../../core/entry.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { ReleasedFile } from '../../sync/ports/folder.ts';
import { descending } from '../descent.ts';
import { fingerprintOf, hasContentOf, isOneInode, lstatIfThere } from '../entry-stat.ts';
import { fileSystemOf } from '../mounts/mounts.ts';
import { absolutePath, type Places } from '../places.ts';
import { contentOfFileName } from '../read/content-id.ts';
import { withFile } from '../read/read-content.ts';
import { removeIfThere, removeTree } from '../remove.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';
import { isKept } from './history.ts';
import { dropIfWrong, identify, keepAt } from './replaced-version.ts';
import { changeTimeBefore, type TakenName, takenName, writingBefore } from './staging.ts';

/** The path of a user's file whose own the journal does not know any more. A further one is a conflict copy of it. */
const recoveredPath = 'recovered';

/** The files of the folder by the journal of the last run. */
export interface ShownFiles {
  withInode(ino: number): readonly DiskEntry[];
}

/**
 * Clears staging of all that an earlier agent left there, but for blocks of contents that it was fetching. A file that has another name too was
 * being put in place: a write to it would change a user's file. Returns the files that still have another name.
 *
 * An agent that was killed when it had just replaced a file, or taken it away, could not check it any more. One that a program wrote to in the
 * last moment gets its name back, or becomes a conflict copy [MT4]. So does an entry that a user put at the name.
 */
export function clearStaging(places: Places, shown: ShownFiles): readonly ReleasedFile[] {
  const { system, staging } = places;
  if (lstatIfThere(system, staging)?.isDirectory() !== true) {
    removeTree(system, staging);
    return [];
  }
  // Another disk in the folder has inodes of the same numbers, and nothing on it can come to staging.
  const rowsOf = (ino: number): readonly DiskEntry[] =>
    shown.withInode(ino).filter((row) => fileSystemOf(places, absolutePath(places.root, row.path)) === places.state);
  const released: ReleasedFile[] = [];
  for (const name of system.readdir(staging)) {
    const path = `${staging}/${name}`;
    const stats = system.lstat(path);
    const isFile = stats?.isFile() === true;
    const taken = takenName(name);
    if (stats && taken && keepIfOther(places, path, { stats, taken, rows: rowsOf(taken.ino) })) continue;
    if (isFile && stats.nlink === 1 && contentOfFileName(name) !== undefined) continue;
    // A file that the agent itself made may have the inode number of one that a user removed.
    const wasInFolder = taken !== undefined || writingBefore(name) !== undefined;
    const rows = isFile && wasInFolder ? rowsOf(stats.ino) : [];
    if (isFile && keepIfWritten(places, path, { stats, rows })) continue;
    if (isFile && rows.length === 0 && keepIfWrittenSince(places, path, stats)) continue;
    const file = isFile && stats.nlink > 1 ? release(system, path, name) : undefined;
    if (file === undefined) removeTree(system, path);
    else released.push(file);
  }
  return released;
}

/** An entry that an agent took from its name. */
interface TakenEntry {
  readonly stats: EntryStats;
  readonly taken: TakenName;
  /** Of the entry that the journal has there. */
  readonly rows: readonly DiskEntry[];
}

/** False if an entry that an agent took from its name is the one that it was to take, or has the name again. */
function keepIfOther(places: Places, name: string, entry: TakenEntry): boolean {
  const { stats, taken, rows } = entry;
  if (taken.staged === undefined ? isExpected(entry) : isAsStaged(stats, taken.staged)) return false;
  const [row] = rows;
  if (row !== undefined && descending(places, (descent) => isOneInode(descent.lstat(row.path), stats))) return false;
  keepAt(places, name, row?.path ?? recoveredPath);
  if (row?.content !== undefined) dropIfWrong(places, row.content);
  return true;
}

function isExpected({ stats, taken, rows }: TakenEntry): boolean {
  if (stats.ino !== taken.ino) return false;
  const found = fingerprintOf(stats);
  return rows.every(({ fingerprint }) => fingerprint !== undefined && mayBeSameInode(fingerprint, found));
}

/** True if the entry is the staged one, and no write to it is possible that its times do not show. */
function isAsStaged(stats: EntryStats, staged: NonNullable<TakenName['staged']>): boolean {
  return hasContentOf(stats, staged) && (!stats.isFile() || !mayHideWrite(stats));
}

/** True if a write in the last moment may have left the modification time as it was. */
function mayHideWrite({ ctimeMs, mtimeMs }: EntryStats): boolean {
  return Math.abs(ctimeMs - mtimeMs) < fileTimeStepMsMax;
}

/** False if the file at a private name is as the journal knows it, or the folder still shows it. */
function keepIfWritten(
  places: Places,
  name: string,
  { stats, rows }: { readonly stats: EntryStats; readonly rows: readonly DiskEntry[] },
): boolean {
  const written = rows.find((row) => isWritten(places, name, stats, row));
  if (written === undefined) return false;
  const isShown = descending(places, (descent) => rows.some(({ path }) => isOneInode(descent.lstat(path), stats)));
  if (isShown) return false;
  keepAt(places, name, written.path);
  if (written.content !== undefined) dropIfWrong(places, written.content);
  return true;
}

/**
 * Keeps a file that a program wrote to while an agent replaced it, and for which the disk then refused every name. The journal does not know
 * the file any more, so its name in the folder is not known either.
 */
function keepIfWrittenSince(places: Places, path: string, stats: EntryStats): boolean {
  const before = writingBefore(nameOf(path));
  if (before === undefined || stats.nlink > 1) return false;
  if (stats.size === before.size && stats.mtimeMs === before.mtimeMs && !mayHideWrite(stats)) return false;
  const content = contentIfRead(places, path);
  if (content !== undefined && isKept(places, content)) return false;
  keepAt(places, path, recoveredPath);
  return true;
}

/** Undefined also for a file that the disk does not let be read. */
function contentIfRead(places: Places, path: string): ContentId | undefined {
  try {
    return identify(places, path).content;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** True if the file has other bytes than the journal says, and not only because the disk has damaged them. */
function isWritten(places: Places, name: string, stats: EntryStats, { fingerprint, content }: DiskEntry): boolean {
  const found = fingerprintOf(stats);
  if (fingerprint === undefined || !mayBeSameInode(fingerprint, found)) return false;
  if (isSameWriting(fingerprint, found) && !mayHideWrite(stats)) return false;
  try {
    return identify(places, name).content !== content;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return !isSameWriting(fingerprint, found);
  }
}

/** Removes one of several names of a file. Undefined if the agent may not read it, so that no detection can either. */
function release(system: SystemCalls, path: string, name: string): ReleasedFile | undefined {
  try {
    return withFile(system, path, (fd) => {
      const now = fingerprintOf(system.fstat(fd));
      const before = { ...now, ctimeMs: changeTimeBefore(name, now) ?? now.ctimeMs };
      removeIfThere(system, path);
      return { before, after: fingerprintOf(system.fstat(fd)) };
    });
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
