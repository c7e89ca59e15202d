import { constants } from 'node:fs';
import { parentOf } from '@lockstep/shared';
import { errorCodeOf } from '../../os/system-error.ts';
import type { SyncedEntry, SyncResult } from '../../sync/ports/folder.ts';
import { type Descent, descending } from '../descent.ts';
import { MountCheck } from '../mounts/mount-check.ts';
import { fileSystemOf } from '../mounts/mounts.ts';
import { absolutePath, folderProblem, type Places } from '../places.ts';
import { progressed } from '../worker/worker-progress.ts';

/** Follows no link, and does not block if a pipe has taken the name. */
const openFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** Makes the entry at each path of `left` durable, and then the names in its parent directory (the port's `sync`). Runs in a worker. */
export function syncChanges(
  places: Places,
  { paths, left }: { readonly paths: readonly string[]; readonly left: readonly string[] },
): SyncResult {
  const away = folderProblem(places);
  if (away !== undefined) return { result: 'not-done', detail: away.detail };
  let synced: ReturnType<typeof syncEntries>;
  try {
    synced = descending(places, (descent) => syncEntries(places, descent, left));
  } catch (error) {
    const { path } = error as { path?: string };
    const detail = `Changes of ${path ?? 'the folder'} could not be made durable: ${String(error)}`;
    return { result: 'failed', detail };
  }
  if (![...synced.closed].every((fileSystem) => places.system.syncFileSystem(fileSystem)))
    return {
      result: 'not-done',
      detail: 'A file or directory that cannot be opened cannot be made durable on its own.',
    };
  const hidden = descending(places, (descent) => hiddenAmong(places, descent, paths));
  return { result: 'done', hidden, single: synced.single };
}

/** `closed`: the file systems on which an entry could not be opened. */
function syncEntries(
  places: Places,
  descent: Descent,
  paths: readonly string[],
): { readonly closed: ReadonlySet<string>; readonly single: readonly SyncedEntry[] } {
  const directories = new Set<string>();
  const closed = new Set<string>();
  const single: SyncedEntry[] = [];
  const sync = (path: string, reach: () => string | undefined) => {
    const result = syncEntry(places, path, reach);
    if (result === 'closed') closed.add(fileSystemOf(places, absolutePath(places.root, path)));
    return result;
  };
  for (const path of paths) {
    const result = sync(path, () => descent.entry(path));
    if (result === 'absent') single.push({ path, ino: undefined });
    else if (typeof result === 'object') single.push({ path, ino: result.ino });
    directories.add(parentOf(path));
  }
  for (const directory of directories) {
    let nearest = directory;
    // If the directory itself was removed, the sync of its parent makes that durable.
    for (; sync(nearest, () => descent.directory(nearest)?.path) === 'absent' && nearest !== ''; )
      nearest = parentOf(nearest);
  }
  return { closed, single };
}

function hiddenAmong(places: Places, descent: Descent, paths: readonly string[]): readonly string[] {
  const mounts = new MountCheck(places, descent);
  return paths.filter((path) => mounts.changed(path, descent.lstat(path)) !== undefined);
}

/** `reach`: returns the path for system calls. Returns the synced inode, if it has one. Throws the disk's error if it could not write. */
function syncEntry(
  { system, root }: Places,
  path: string,
  reach: () => string | undefined,
): { readonly ino: number } | 'name' | 'absent' | 'closed' {
  progressed();
  let fd: number;
  try {
    const reached = reach();
    if (reached === undefined) return 'absent';
    fd = system.open(reached, openFlags);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'absent';
    // A link consists of its name only.
    if (code === 'ELOOP') return 'name';
    if (code === undefined) throw error;
    // It may not be read, another program has a lease, or the disk fails. None of these says that bytes were lost.
    return 'closed';
  }
  try {
    system.fsync(fd);
    return { ino: system.fstat(fd).ino };
  } catch (error) {
    // A pipe, or a file system that stores nothing. EROFS is different: ext4 aborted, and lost what it had in memory.
    if (errorCodeOf(error) === 'EINVAL') return 'name';
    throw Object.assign(error as Error, { path: absolutePath(root, path) });
  } finally {
    system.close(fd);
  }
}
