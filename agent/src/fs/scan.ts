import { joinPath } from '@lockstep/shared';
import type { ScannedDirectory } from '../sync/ports/observation.ts';
import type { ListedDirectory } from './read/list-directory.ts';
import type { DirectoryWatches } from './watch/directory-watches.ts';
import type { JobRunner } from './worker/worker-job.ts';

/** Directories listed by one message to a worker. */
const batchDirectoriesMax = 64;

/** A directory that is exchanged repeatedly while it is listed counts as it was the last time. */
const attemptsMax = 3;

export interface ScanOptions {
  readonly recursive: boolean;
  /** No watch is set: what is found need not be followed. */
  readonly unwatched?: boolean;
  readonly skip: (path: string, isDirectory: boolean) => boolean;
}

/**
 * Lists a directory, or a tree, parents before children. The watch of each directory is active before it is listed: a later entry raises an
 * event, an earlier one is in the list.
 */
export async function* scan(
  workers: Pick<JobRunner, 'run'>,
  watcher: DirectoryWatches | undefined,
  directory: string,
  options: ScanOptions,
): AsyncGenerator<readonly ScannedDirectory[]> {
  const waiting = [directory];
  const attempts = new Map<string, number>();
  while (waiting.length > 0) {
    const batch = waiting.splice(-batchDirectoriesMax).reverse();
    const watched = batch.map((path) => watcher?.watch(path));
    const listed = await workers.run('list', batch);
    waiting.push(...batch.slice(listed.length).reverse());
    const chunk: ScannedDirectory[] = [];
    const below: string[] = [];
    for (const [index, found] of listed.entries()) {
      const { path } = found.scanned;
      const attempt = (attempts.get(path) ?? 0) + 1;
      if (watcher !== undefined && isAnother(found, watched[index]) && attempt < attemptsMax) {
        attempts.set(path, attempt);
        below.push(path);
        continue;
      }
      attempts.delete(path);
      if (found.scanned.absent) watcher?.forget(path);
      const entries = found.scanned.entries.filter(
        (entry) => !options.skip(joinPath(path, entry.name), entry.type === 'directory'),
      );
      const unreadable = found.scanned.unreadable?.filter((name) => !options.skip(joinPath(path, name), false));
      // Other ones are reported all the same: the state of another member may hold keys.
      const skipped = found.scanned.skipped.filter(
        ({ name, code }) => code !== 'path-special' || !options.skip(joinPath(path, name), false),
      );
      chunk.push({ ...found.scanned, entries, unreadable, skipped });
      if (!options.recursive) continue;
      for (const entry of entries) if (entry.type === 'directory') below.push(joinPath(path, entry.name));
    }
    // A directory may have more directories than a call can have arguments.
    for (const path of below.reverse()) waiting.push(path);
    if (chunk.length > 0) yield chunk;
  }
}

/** True if the listed directory is not the one whose watch was set before. */
function isAnother(listed: ListedDirectory, watchedIno: number | undefined): boolean {
  return listed.ino !== undefined && listed.ino !== watchedIno;
}
