import { fstatSync, type Stats } from 'node:fs';
import { carriedPathFault, fileBytesMax, hashUnderLockBytesMax, inlineBytesMax, isStatePath } from '@lockstep/shared';
import type { Fingerprint } from '../core/disk-entry.ts';
import type { Observation, ObserveRequest } from '../sync/ports/folder.ts';
import { fingerprintOf, hasFingerprint, isRacy, lstatIfThere, mtimeUsOf, typeOf } from './entry-stat.ts';
import { errorCodeOf, folderMissing, type PathProblem, problemOf } from './path-problem.ts';
import { absolutePath, ParentCheck, type Places, stillThere } from './places.ts';
import { readLinkText } from './raw-name.ts';
import { isUnchanged, readContent, withFile } from './read-content.ts';

/** Looks at each path of a batch (the port's `observe`). Runs in a worker. */
export function observe(places: Places, requests: readonly ObserveRequest[]): readonly Observation[] {
  const missing = (): readonly Observation[] =>
    requests.map(({ path }) => ({ path, state: 'problem', ...folderMissing }) as const);
  if (!stillThere(places)) return missing();
  const parents = new ParentCheck(places.root);
  const observations = requests.map((request) => observeOne(places, parents, request));
  // Were the folder exchanged or unmounted meanwhile, what was seen last would not be about this folder.
  return stillThere(places) ? observations : missing();
}

function observeOne(places: Places, parents: ParentCheck, request: ObserveRequest): Observation {
  const { path, expected } = request;
  const fault = carriedPathFault(path);
  if (fault !== undefined) {
    const code = fault.includes('longer') ? 'path-too-long' : 'path-in-the-way';
    return { path, state: 'problem', code, detail: `The path ${path} ${fault}.` };
  }
  // Another member's state: nothing of it is read, and for the replication nothing is there.
  if (isStatePath(path)) return { path, state: 'absent' };
  try {
    if (!parents.parentStands(path)) return { path, state: 'absent' };
    const absolute = absolutePath(places.root, path);
    const wallMs = Date.now();
    const stats = lstatIfThere(absolute);
    if (stats === undefined) return { path, state: 'absent' };
    if (expected !== undefined && isSame(stats, expected)) return { path, state: 'same' };
    switch (typeOf(stats)) {
      case 'special':
        return { path, state: 'special' };
      case 'directory':
        return { path, state: 'directory', fingerprint: fingerprintOf(stats) };
      case 'symlink':
        return observeSymlink(path, absolute, stats);
      case 'file':
        return observeFile(path, absolute, stats, wallMs, request.hashLarge ?? false);
    }
  } catch (error) {
    // Gone or replaced between two of the calls above.
    const code = errorCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ELOOP') return { path, state: 'changing' };
    return { path, state: 'problem', ...problemOf(error, path) };
  }
}

/**
 * A directory that was made where another was removed may have its inode number, and has no watch yet: only one whose times
 * have not moved either is surely the same.
 */
function isSame(stats: Stats, expected: Fingerprint): boolean {
  if (!hasFingerprint(stats, expected)) return false;
  return !stats.isDirectory() || (stats.ctimeMs === expected.ctimeMs && stats.mtimeMs === expected.mtimeMs);
}

function observeSymlink(path: string, absolute: string, stats: Stats): Observation {
  const target = readLinkText(absolute);
  if (target === undefined) return { path, state: 'special', problem: targetNotUtf8(path) };
  const mtimeUs = mtimeUsOf(absolute);
  const after = lstatIfThere(absolute);
  if (after === undefined || !hasFingerprint(after, fingerprintOf(stats))) return { path, state: 'changing' };
  return { path, state: 'symlink', fingerprint: fingerprintOf(stats), mtimeUs, target };
}

/** No operation can carry such a target. Nothing but a new link will change that: it is left alone, as a name that is not UTF-8 is. */
function targetNotUtf8(path: string): PathProblem {
  const detail = `What the link ${path} points to is not UTF-8. It is left alone; let it point elsewhere to have it replicated.`;
  return { code: 'path-not-utf8', detail };
}

function observeFile(path: string, absolute: string, stats: Stats, wallMs: number, hashLarge: boolean): Observation {
  const fingerprint = fingerprintOf(stats);
  if (stats.size > fileBytesMax) {
    return { path, state: 'problem', code: 'file-too-large', detail: `${path} has more than ${fileBytesMax} bytes.` };
  }
  if (stats.size > hashUnderLockBytesMax && !hashLarge) return { path, state: 'large', fingerprint };
  return withFile(absolute, (fd): Observation => {
    if (!hasFingerprint(fstatSync(fd), fingerprint)) return { path, state: 'changing' };
    const read = readContent(fd, stats.size, inlineBytesMax);
    const mtimeUs = mtimeUsOf(fd);
    if (read === undefined || !isUnchanged(fd, stats)) return { path, state: 'changing' };
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
    };
  });
}
