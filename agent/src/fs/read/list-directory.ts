import { isStateName, joinPath, type ProblemCode, pathFault, stateDirectoryName } from '@lockstep/shared';
import { errorCodeOf } from '../../os/system-error.ts';
import type { ScannedDirectory, ScannedEntry } from '../../sync/ports/observation.ts';
import { type Descent, descending } from '../descent.ts';
import { fingerprintOf, lstatIfThere, typeOf } from '../entry-stat.ts';
import { MountCheck } from '../mounts/mount-check.ts';
import { foreignAbove } from '../mounts/mounts.ts';
import { mountChanged, type PathProblem, problemOf } from '../path-problem.ts';
import { absolutePath, folderProblem, isState, type Places } from '../places.ts';
import type { DirectoryEntry, EntryStats, SystemCalls } from '../system-calls.ts';
import { decodeName, replacementCharacter, showName } from './raw-name.ts';

/** A batch of directories ends after this number of entries: bounds the message, and the time between two batches. */
const batchEntriesMax = 4_096;

/** Codes with which a disk answers for an entry that it cannot read. */
const damageCodes: ReadonlySet<string | undefined> = new Set(['EIO', 'EBADMSG', 'EUCLEAN']);

/** Beyond this number in one directory, the disk as a whole has the problem. */
const unreadableMax = 64;

/** A listed directory and its inode: a watch set on an earlier directory of this name does not count. */
export interface ListedDirectory {
  readonly scanned: ScannedDirectory;
  readonly ino?: number | undefined;
}

/** Lists directories, from the first on, until the batch is full. Runs in a worker. */
export function listDirectories(places: Places, directories: readonly string[]): readonly ListedDirectory[] {
  const all = (problem: PathProblem): readonly ListedDirectory[] =>
    directories.map((path) => ({ scanned: failed(path, problem) }));
  const missing = folderProblem(places);
  if (missing !== undefined) return all(missing);
  const listed = descending(places, (descent) => listBatch(places, descent, directories));
  const away = folderProblem(places);
  return away === undefined ? listed : all(away);
}

function listBatch(places: Places, descent: Descent, directories: readonly string[]): readonly ListedDirectory[] {
  const mounts = new MountCheck(places, descent);
  const hiddenBy = foreignAbove(places);
  const listed: ListedDirectory[] = [];
  let count = 0;
  for (const path of directories) {
    const directory = list(places, descent, path, () => hiddenBy(path) ?? mounts.changed(path, descent.lstat(path)));
    listed.push(directory);
    count += directory.scanned.entries.length;
    if (count >= batchEntriesMax) break;
  }
  return listed;
}

function failed(path: string, problem: PathProblem): ScannedDirectory {
  return { path, entries: [], skipped: [], problem };
}

/** `changedMount`: returns the mount that keeps the directory from being listed. */
function list(places: Places, descent: Descent, path: string, changedMount: () => string | undefined): ListedDirectory {
  try {
    const mount = changedMount();
    if (mount !== undefined) return { scanned: failed(path, mountChanged(mount)) };
    const directory = descent.directory(path);
    if (directory === undefined || !descent.isSpelledSo(path))
      return { scanned: { path, entries: [], skipped: [], absent: true } };
    const scanned = listEntries(places, directory.path, path);
    if (descent.isInPlace()) return { scanned, ino: directory.stats.ino };
    // It was exchanged while it was read: it counts as absent, and a hint of the exchange follows.
    return { scanned: { path, entries: [], skipped: [], absent: true } };
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') {
      return { scanned: { path, entries: [], skipped: [], absent: true } };
    }
    return { scanned: failed(path, problemOf(error, path)) };
  }
}

function listEntries(places: Places, absolute: string, path: string): ScannedDirectory {
  const entries: ScannedEntry[] = [];
  const skipped: { name: string; code: ProblemCode }[] = [];
  const unreadable: string[] = [];
  const { system } = places;
  // Names are read from the open directory. Their stats are read by path, in half the time: if a link led elsewhere, the fingerprint would
  // differ, and the entry would be observed.
  const asked = absolutePath(places.root, path);
  const names = system.readdir(absolute);
  // A replacement character may come from invalid UTF-8: only then are the bytes needed.
  const undecodable = names.some((name) => name.includes(replacementCharacter))
    ? namesNotUtf8(system, absolute)
    : undefined;
  for (const name of undecodable?.names ?? names) {
    if (isStateName(name)) {
      if (path !== '' || name !== stateDirectoryName) skipped.push({ name, code: 'path-reserved' });
      continue;
    }
    const child = joinPath(path, name);
    if (pathFault(child) !== undefined) {
      skipped.push({ name, code: 'path-too-long' });
      continue;
    }
    const stats = statsOr(unreadable, name, () => lstatIfThere(system, `${asked}/${name}`));
    if (stats === undefined) continue;
    if (isState(places, stats)) {
      skipped.push({ name, code: 'path-reserved' });
      continue;
    }
    const type = typeOf(stats);
    if (type === 'special') skipped.push({ name, code: 'path-special' });
    else entries.push({ name, type, fingerprint: fingerprintOf(stats) });
  }
  for (const name of undecodable?.skipped ?? []) skipped.push({ name, code: 'path-not-utf8' });
  return { path, entries, skipped, ...(unreadable.length > 0 && { unreadable }) };
}

/** Notes `name` as unreadable if the disk fails at its entry: one damaged inode must not hide the others of its directory. */
function statsOr(unreadable: string[], name: string, stats: () => EntryStats | undefined): EntryStats | undefined {
  try {
    return stats();
  } catch (error) {
    if (!damageCodes.has(errorCodeOf(error)) || unreadable.length === unreadableMax) throw error;
    unreadable.push(name);
    return undefined;
  }
}

function namesNotUtf8(
  system: SystemCalls,
  absolute: string,
): { readonly names: readonly string[]; readonly skipped: readonly string[] } {
  const names: string[] = [];
  const skipped: string[] = [];
  for (const bytes of system.readdirBytes(absolute)) {
    const name = decodeName(bytes);
    if (name === undefined) skipped.push(showName(bytes));
    else names.push(name);
  }
  return { names, skipped };
}

/**
 * The relative paths of all entries below a directory. Undefined if one of them has no path (a special file, a name that is not UTF-8) or
 * cannot be read.
 */
export function namesBelow(places: Places, directory: string): ReadonlySet<string> | undefined {
  return descending(places, (descent) => {
    const found = new Set<string>();
    const waiting = [''];
    for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
      const opened = descent.directory(joinPath(directory, below));
      if (opened === undefined) return undefined;
      for (const entry of places.system.readdirTypes(opened.path)) {
        if (isForeign(entry)) return undefined;
        const path = joinPath(below, entry.name);
        found.add(path);
        if (entry.isDirectory()) waiting.push(path);
      }
    }
    return found;
  });
}

/**
 * The relative path of a special file or mount point that keeps a directory from being removed. Undefined if the directory is empty, or has
 * files or links, which must be observed first.
 */
export function obstacleBelow(places: Places, directory: string): string | undefined {
  return descending(places, (descent) => {
    const device = descent.directory(directory)?.stats.dev;
    const waiting = [''];
    let obstacle: string | undefined;
    for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
      const opened = descent.directory(joinPath(directory, below));
      if (opened === undefined) return undefined;
      for (const entry of places.system.readdirTypes(opened.path)) {
        const path = joinPath(below, entry.name);
        if (isForeign(entry)) obstacle ??= path;
        else if (!entry.isDirectory()) return undefined;
        else if (lstatIfThere(places.system, `${opened.path}/${entry.name}`)?.dev !== device) obstacle ??= path;
        else waiting.push(path);
      }
    }
    return obstacle;
  });
}

function isForeign(entry: DirectoryEntry): boolean {
  return !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink();
}
