import {
  carriedPathFault,
  fileBytesMax,
  hashUnderLockBytesMax,
  inlineBytesMax,
  isStatePath,
  parentOf,
  tooLongText,
} from '@lockstep/shared';
import { type Fingerprint, isLinkMode, isSameFingerprint } from '../../core/entry.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { Observation, ObserveRequest } from '../../sync/ports/observation.ts';
import { type Descent, descending } from '../descent.ts';
import { fingerprintOf, hasFingerprint, isRacy, lstatIfThere, mtimeUsOf, typeOf } from '../entry-stat.ts';
import { MountCheck } from '../mounts/mount-check.ts';
import { foreignAbove } from '../mounts/mounts.ts';
import { mountChanged, type PathProblem, problemOf } from '../path-problem.ts';
import { folderProblem, isState, type Places } from '../places.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';
import { isClosing } from '../worker/worker-progress.ts';
import { readLinkText } from './raw-name.ts';
import { isUnchanged, readContent, readFully, withFile } from './read-content.ts';

/** Observes each path of a batch (the port's `observe`). Runs in a worker. */
export function observe(places: Places, requests: readonly ObserveRequest[]): readonly Observation[] {
  const all = (problem: PathProblem): readonly Observation[] =>
    requests.map(({ path }) => ({ path, state: 'problem', ...problem }) as const);
  const missing = folderProblem(places);
  if (missing !== undefined) return all(missing);
  const observations = withoutHidden(
    places,
    descending(places, (descent) => observeAll(places, descent, requests)),
  );
  // If the folder was exchanged or unmounted meanwhile, the observations are not about this folder.
  const away = folderProblem(places);
  return away === undefined ? observations : all(away);
}

/** Observes the entries of one directory through one descriptor. Observations in a directory that is moved meanwhile do not count. */
function observeAll(places: Places, descent: Descent, requests: readonly ObserveRequest[]): readonly Observation[] {
  const mounts = new MountCheck(places, descent);
  const observations: Observation[] = [];
  let from = 0;
  for (const [index, request] of requests.entries()) {
    observations.push(observeOne(places, descent, mounts, request));
    const next = requests[index + 1];
    if (next !== undefined && parentOf(next.path) === parentOf(request.path)) continue;
    if (!isInPlace(descent)) {
      for (const [moved, { path }] of requests.slice(from, index + 1).entries()) {
        observations[from + moved] = { path, state: 'changing' };
      }
    }
    from = index + 1;
  }
  return observations;
}

function isInPlace(descent: Descent): boolean {
  try {
    return descent.isInPlace();
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return false;
  }
}

/**
 * Reports entries at or below a foreign mount as problems: hidden entries are not deleted, and shown ones are no edits. Only the kernel's
 * list shows a bind mount of the same device. It is read if an entry seems to be deleted, or a directory to be another one.
 */
function withoutHidden(places: Places, observations: readonly Observation[]): readonly Observation[] {
  if (observations.every(({ state }) => state !== 'absent' && state !== 'directory')) return observations;
  const hiddenBy = foreignAbove(places);
  return observations.map((observation): Observation => {
    const mount = hiddenBy(observation.path);
    return mount === undefined ? observation : { path: observation.path, state: 'problem', ...mountChanged(mount) };
  });
}

/** Codes of calls at an entry that was removed, or replaced by a link or a socket, after it was found. Of a link that is none now: EINVAL. */
const replacedCodes: ReadonlySet<string | undefined> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

function observeOne(places: Places, descent: Descent, mounts: MountCheck, request: ObserveRequest): Observation {
  const { path, expected } = request;
  const fault = carriedPathFault(path);
  const tooLong = fault && tooLongText(path);
  if (fault !== undefined && tooLong === undefined) {
    return { path, state: 'problem', code: 'path-in-the-way', detail: `The path ${path} ${fault}.` };
  }
  // Another member's state is not read, and what lies below a path that is too long is left alone with it: both count as absent.
  if (isStatePath(path) || (tooLong && tooLongText(parentOf(path)))) return { path, state: 'absent' };
  let unread: Fingerprint | undefined;
  try {
    const wallMs = places.system.wallMs();
    const found = descent.find(path);
    const mount = mounts.changed(path, found?.stats);
    if (mount !== undefined) return { path, state: 'problem', ...mountChanged(mount) };
    if (found === undefined) return { path, state: 'absent' };
    const { entry, stats } = found;
    if (isState(places, stats) || !descent.isSpelledSo(path)) return { path, state: 'absent' };
    if (tooLong !== undefined) return { path, state: 'special', problem: { code: 'path-too-long', detail: tooLong } };
    if (expected !== undefined && isSame(stats, expected) && !isLinkMode(stats.mode)) return { path, state: 'same' };
    unread = fingerprintOf(stats);
    switch (typeOf(stats)) {
      case 'special':
        return { path, state: 'special' };
      case 'directory':
        return { path, state: 'directory', fingerprint: fingerprintOf(stats) };
      case 'symlink':
        return observeSymlink(places, path, entry, stats);
      case 'file':
        return observeFile(places, request, { entry, stats, wallMs });
    }
  } catch (error) {
    // Deleted or replaced between two of the calls above.
    const code = errorCodeOf(error);
    if (replacedCodes.has(code)) return { path, state: 'changing' };
    if (code === 'EINVAL' && unread !== undefined && isLinkMode(unread.mode)) return { path, state: 'changing' };
    // Only a listing can name it then.
    if (code === 'ENAMETOOLONG' && tooLong !== undefined) return { path, state: 'absent' };
    return { path, state: 'problem', ...problemOf(error, path), ...(unread && { unread }) };
  }
}

/**
 * A new directory may have the inode number of a removed one, and has no watch yet. It is only certainly the same if its times are
 * unchanged too.
 */
function isSame(stats: EntryStats, expected: Fingerprint): boolean {
  return isSameFingerprint(fingerprintOf(stats), expected);
}

function observeSymlink({ system }: Places, path: string, entry: string, stats: EntryStats): Observation {
  const target = readLinkText(system, entry);
  if (target === undefined) return { path, state: 'special', problem: targetNotUtf8(path) };
  const mtimeUs = mtimeUsOf(system, entry);
  const after = lstatIfThere(system, entry);
  if (after === undefined || !hasFingerprint(after, fingerprintOf(stats))) return { path, state: 'changing' };
  return { path, state: 'symlink', fingerprint: fingerprintOf(stats), mtimeUs, target };
}

/** No operation can contain such a target, and only a new link changes it: it is left alone, like a name that is not UTF-8. */
function targetNotUtf8(path: string): PathProblem {
  const detail = `The target of the link ${path} is not UTF-8. The link is left alone; change its target to have it replicated.`;
  return { code: 'path-not-utf8', detail };
}

function observeFile(
  places: Places,
  request: ObserveRequest,
  { entry, stats, wallMs }: { readonly entry: string; readonly stats: EntryStats; readonly wallMs: number },
): Observation {
  const { system } = places;
  const { path, hashLarge = false, bytesMax = inlineBytesMax, tail } = request;
  const fingerprint = fingerprintOf(stats);
  if (stats.size > fileBytesMax) {
    return { path, state: 'problem', code: 'file-too-large', detail: `${path} has more than ${fileBytesMax} bytes.` };
  }
  if (stats.size > hashUnderLockBytesMax && !hashLarge) return { path, state: 'large', fingerprint };
  return withFile(system, entry, (fd): Observation => {
    if (!hasFingerprint(system.fstat(fd), fingerprint)) return { path, state: 'changing' };
    // As a file that changes: the next start reads it.
    const read = readContent({ ...places, givesUp: isClosing }, fd, stats.size, bytesMax);
    const mtimeUs = mtimeUsOf(system, fd);
    if (read === undefined || !isUnchanged(system, fd, stats)) return { path, state: 'changing' };
    const { content, blocks, bytes } = read;
    return {
      path,
      state: 'file',
      fingerprint,
      mtimeUs,
      racy: isRacy(stats, wallMs),
      content,
      ...(blocks && { blocks }),
      ...(bytes && { bytes }),
      ...(tail && {
        endsInZeros: endsInZeros(system, fd, stats.size),
        lastIsZero: lastIsZero(system, fd, stats.size),
        isZeros: isZeros(system, fd, stats.size),
      }),
    };
  });
}

/** The unit in which the kernel writes memory to disks. */
const pageBytes = 4_096;

function isZeros(system: SystemCalls, fd: number, size: number): boolean {
  for (let from = 0; from < size; from += pageBytes) {
    const page = new Uint8Array(Math.min(pageBytes, size - from));
    readFully(system, fd, page, from);
    if (page.some((byte) => byte !== 0)) return false;
  }
  return size > 0;
}

function lastIsZero(system: SystemCalls, fd: number, size: number): boolean {
  if (size === 0) return false;
  const last = new Uint8Array(1);
  readFully(system, fd, last, size - 1);
  return last[0] === 0;
}

function endsInZeros(system: SystemCalls, fd: number, size: number): boolean {
  const page = new Uint8Array(size % pageBytes || Math.min(size, pageBytes));
  readFully(system, fd, page, size - page.length);
  return page.length > 0 && page.every((byte) => byte === 0);
}
