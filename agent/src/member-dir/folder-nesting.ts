import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stateDirectoryName } from '@lockstep/shared';
import { diskError } from '../os/disk-error.ts';

/** The most directories searched below a new member's folder: enough for nearly every tree, and a bound on the time of `init`. */
export const directoriesSearchedMax = 50_000;

/** True when `directory` is a member's folder. Throws `folder-not-writable` if its disk does not answer: then it is not known. */
export async function isMemberFolder(directory: string, look: typeof lookAt = lookAt): Promise<boolean> {
  const path = join(directory, stateDirectoryName);
  try {
    return (await look(path)).isDirectory();
  } catch (error) {
    const failed = diskError(error, path);
    if (failed !== undefined) throw failed;
    return false;
  }
}

function lookAt(path: string): Promise<{ isDirectory(): boolean }> {
  return lstat(path);
}

/** The nearest member's folder at or above `directory`, found as git finds its own. Throws as `isMemberFolder`. */
export async function memberFolderAbove(directory: string, look?: typeof lookAt): Promise<string | undefined> {
  for (let current = directory; ; current = dirname(current)) {
    if (await isMemberFolder(current, look)) return current;
    if (dirname(current) === current) return undefined;
  }
}

/**
 * A member's folder below `directory`, nearest first. Links are not followed, unreadable directories are skipped, and the search ends after
 * `directoriesSearchedMax` directories.
 */
export async function memberFolderBelow(
  directory: string,
  list: typeof directoriesIn = directoriesIn,
): Promise<string | undefined> {
  const queue = [directory];
  for (let next = 0; next < queue.length && next < directoriesSearchedMax; next++) {
    const current = queue[next] ?? directory;
    let children: readonly string[];
    try {
      children = await list(current);
    } catch {
      continue;
    }
    if (current !== directory && children.includes(stateDirectoryName)) return current;
    // There may be more of them than a call can have arguments.
    for (const name of children) if (name !== stateDirectoryName) queue.push(join(current, name));
  }
  return undefined;
}

async function directoriesIn(directory: string): Promise<readonly string[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
