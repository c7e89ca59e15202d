import { isStateName, joinPath, type ProblemCode, pathFault, stateDirectoryName } from '@lockstep/shared';
import type { ScannedDirectory, ScannedEntry } from '../../sync/ports/folder.ts';
import { fingerprintOf, lstatIfThere, typeOf } from '../entry-stat.ts';
import { MountCheck } from '../mounts/mount-check.ts';
import { foreignAbove } from '../mounts/mounts.ts';
import { errorCodeOf, folderMissing, mountChanged, type PathProblem, problemOf } from '../path-problem.ts';
import { absolutePath, isState, ParentCheck, type Places, stillThere } from '../places.ts';
import type { DirectoryEntry, SystemCalls } from '../system-calls.ts';
import { decodeName, replacementCharacter, showName } from './raw-name.ts';

/** Entries after which a batch of directories ends early: bounds the message, and the time between two batches. */
const batchEntriesMax = 4_096;

/** A listed directory, and which one it was: a watch set on another one of this name before does not count. */
export interface ListedDirectory {
  readonly scanned: ScannedDirectory;
  readonly ino?: number | undefined;
}

/** Lists directories, as many of them from the first on as make one batch. Runs in a worker. */
export function listDirectories(places: Places, directories: readonly string[]): readonly ListedDirectory[] {
  const missing = (): readonly ListedDirectory[] =>
    directories.map((path) => ({ scanned: failed(path, folderMissing) }));
  if (!stillThere(places)) return missing();
  const parents = new ParentCheck(places);
  const mounts = new MountCheck(places);
  const hiddenBy = foreignAbove(places);
  const listed: ListedDirectory[] = [];
  let count = 0;
  for (const path of directories) {
    const directory = list(places, parents, path, () => hiddenBy(path) ?? mounts.changed(path));
    listed.push(directory);
    count += directory.scanned.entries.length;
    if (count >= batchEntriesMax) break;
  }
  return stillThere(places) ? listed : missing();
}

function failed(path: string, problem: PathProblem): ScannedDirectory {
  return { path, entries: [], skipped: [], problem };
}

/** `changedMount`: answers the mount that keeps the directory from being listed. */
function list(
  places: Places,
  parents: ParentCheck,
  path: string,
  changedMount: () => string | undefined,
): ListedDirectory {
  try {
    const mount = changedMount();
    if (mount !== undefined) return { scanned: failed(path, mountChanged(mount)) };
    const absolute = absolutePath(places.root, path);
    const before = parents.isReachable(path) ? lstatIfThere(places.system, absolute) : undefined;
    if (!before?.isDirectory()) return { scanned: { path, entries: [], skipped: [], absent: true } };
    const scanned = listEntries(places, absolute, path);
    const after = lstatIfThere(places.system, absolute);
    if (after?.isDirectory() && after.ino === before.ino) return { scanned, ino: before.ino };
    // Exchanged while it was read: as if it had not been there, and the hint of that change is on its way.
    return { scanned: { path, entries: [], skipped: [], absent: true } };
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT' || errorCodeOf(error) === 'ENOTDIR') {
      return { scanned: { path, entries: [], skipped: [], absent: true } };
    }
    return { scanned: failed(path, problemOf(error, path)) };
  }
}

function listEntries(places: Places, absolute: string, path: string): ScannedDirectory {
  const entries: ScannedEntry[] = [];
  const skipped: { name: string; code: ProblemCode }[] = [];
  const { system } = places;
  const names = system.readdir(absolute);
  // A name with a replacement character may be one that could not be decoded: only then the bytes are needed.
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
    const stats = lstatIfThere(system, `${absolute}/${name}`);
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
  return { path, entries, skipped };
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
 * The paths of everything below a directory, relative to it; undefined when something is there that has no path of ours (a
 * special file, a name that is not UTF-8) or that cannot be read.
 */
export function namesBelow(system: SystemCalls, absolute: string): ReadonlySet<string> | undefined {
  const found = new Set<string>();
  const waiting = [''];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of system.readdirTypes(absolutePath(absolute, directory))) {
      if (isForeign(entry)) return undefined;
      const path = joinPath(directory, entry.name);
      found.add(path);
      if (entry.isDirectory()) waiting.push(path);
    }
  }
  return found;
}

/**
 * What alone keeps a directory from being removed: a special file or a mount point in it, relative to it. Undefined when files or links
 * are in it, which are to be looked at first, or nothing at all.
 */
export function obstacleBelow(system: SystemCalls, absolute: string): string | undefined {
  const device = lstatIfThere(system, absolute)?.dev;
  const waiting = [''];
  let obstacle: string | undefined;
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of system.readdirTypes(absolutePath(absolute, directory))) {
      const path = joinPath(directory, entry.name);
      if (isForeign(entry)) obstacle ??= path;
      else if (!entry.isDirectory()) return undefined;
      else if (lstatIfThere(system, absolutePath(absolute, path))?.dev !== device) obstacle ??= path;
      else waiting.push(path);
    }
  }
  return obstacle;
}

function isForeign(entry: DirectoryEntry): boolean {
  return !entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink();
}
