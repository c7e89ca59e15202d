import { fingerprintAt, type PackedFiles } from '../../core/packed-files.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { PolledFiles } from '../../sync/ports/folder.ts';
import { hasFingerprint, lstatIfThere } from '../entry-stat.ts';
import { absolutePath, folderProblem, type Places } from '../places.ts';
import type { EntryStats } from '../system-calls.ts';

/**
 * Compares the times of files with their fingerprints (the port's `poll`). Any change other than one of the same inode has raised an event,
 * and is ignored here. Runs in a worker.
 */
export function poll(places: Places, files: PackedFiles): PolledFiles {
  const changed: string[] = [];
  const linked: string[] = [];
  if (folderProblem(places) !== undefined) return { changed, linked };
  for (const [index, path] of files.paths.entries()) {
    const stats = statsOf(places, path);
    const fingerprint = fingerprintAt(files, index);
    if (stats === undefined || !stats.isFile() || stats.ino !== fingerprint.ino) continue;
    if (!hasFingerprint(stats, fingerprint)) changed.push(path);
    if (stats.nlink > 1) linked.push(path);
  }
  return { changed, linked };
}

function statsOf({ system, root }: Places, path: string): EntryStats | undefined {
  try {
    return lstatIfThere(system, absolutePath(root, path));
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
