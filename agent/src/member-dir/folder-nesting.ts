import { lstat, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { stateDirectoryName } from '@lockstep/shared';

/** The most directories searched below a new member's folder: enough for nearly every tree, and a bound on the time of `init`. */
export const directoriesSearchedMax = 50_000;

/** True when `directory` is a member's folder. */
export async function isMemberFolder(directory: string): Promise<boolean> {
  try {
    return (await lstat(join(directory, stateDirectoryName))).isDirectory();
  } catch {
    return false;
  }
}

/** The nearest member's folder at or above `directory`, found as git finds its own. */
export async function memberFolderAbove(directory: string): Promise<string | undefined> {
  for (let current = directory; ; current = dirname(current)) {
    if (await isMemberFolder(current)) return current;
    if (dirname(current) === current) return undefined;
  }
}

/**
 * A member's folder below `directory`, nearest first. Links are not followed, unreadable directories are skipped, and the search ends after
 * `directoriesSearchedMax` directories.
 */
export async function memberFolderBelow(directory: string): Promise<string | undefined> {
  const queue = [directory];
  for (let next = 0; next < queue.length && next < directoriesSearchedMax; next++) {
    const current = queue[next] ?? directory;
    let children: string[];
    try {
      const entries = await readdir(current, { withFileTypes: true });
      children = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    } catch {
      continue;
    }
    if (current !== directory && children.includes(stateDirectoryName)) return current;
    queue.push(...children.filter((name) => name !== stateDirectoryName).map((name) => join(current, name)));
  }
  return undefined;
}
