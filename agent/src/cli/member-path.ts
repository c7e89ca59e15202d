import { lstat, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { LockstepError, pathFault } from '@lockstep/shared';
import { findMemberFolder } from '../member-dir/state-directory.ts';
import { diskError } from '../os/disk-error.ts';
import { UsageError } from './exit-code.ts';

/** A path on the command line: its member's folder, and the path inside that (`''`: the folder itself). */
export interface MemberPath {
  readonly directory: string;
  readonly path: string;
}

/**
 * The real place of `path`, which need not exist. Links are followed in the directories above it, but the path itself is not, because a
 * link is an entry of its own.
 */
async function placeOf(path: string): Promise<string> {
  const missing: string[] = [basename(path)];
  for (let parent = dirname(path); ; parent = dirname(parent)) {
    try {
      return join(await realpath(parent), ...missing);
    } catch {
      if (dirname(parent) === parent) return path;
      missing.unshift(basename(parent));
    }
  }
}

/** The nearest directory at or above `path` that exists. Throws `folder-not-writable` if its disk does not answer. */
async function existingAbove(path: string): Promise<string> {
  for (let current = path; ; current = dirname(current)) {
    const stats = await lstat(current).catch((error: unknown) => {
      const failed = diskError(error, current);
      if (failed !== undefined) throw failed;
    });
    if (stats?.isDirectory() === true || dirname(current) === current) return current;
  }
}

/**
 * The member's folder that contains `place`, and the place. A link outside each member's folder is no entry of one, so it is followed: it may
 * lead to a folder.
 */
async function folderOf(place: string): Promise<{ readonly folder: string; readonly place: string }> {
  try {
    return { folder: await findMemberFolder(await existingAbove(place)), place };
  } catch (error) {
    const target = await realpath(place).catch(() => place);
    if (!(error instanceof LockstepError && error.code === 'not-a-member') || target === place) throw error;
    return { folder: await findMemberFolder(await existingAbove(target)), place: target };
  }
}

/**
 * Finds the member's folder of `path`: `directory` if given, else the one that contains the path. Without a path it is the whole folder
 * that contains `directory` or the current directory. Throws a UsageError for a path outside the folder.
 */
export async function findMemberPath(
  cwd: string,
  path: string | undefined,
  directory: string | undefined,
): Promise<MemberPath> {
  if (path === undefined) return { directory: await findMemberFolder(resolve(cwd, directory ?? '.')), path: '' };
  const chosen = directory === undefined ? undefined : await findMemberFolder(resolve(cwd, directory));
  const base = await realpath(cwd);
  // If the folder is named explicitly from elsewhere, a relative path is relative to that folder.
  const inside = chosen === undefined || base === chosen || base.startsWith(chosen + sep) ? base : chosen;
  const named = await placeOf(resolve(inside, path));
  const { folder, place } = chosen === undefined ? await folderOf(named) : { folder: chosen, place: named };
  const relativePath = relative(folder, place);
  if (relativePath === '..' || relativePath.startsWith(`..${sep}`)) {
    throw new UsageError(`${place} lies outside ${folder}. Name a path inside the member's folder.`);
  }
  const fault = relativePath === '' ? undefined : pathFault(relativePath);
  if (fault !== undefined) throw new UsageError(`${place} cannot be replicated: it ${fault}.`);
  return { directory: folder, path: relativePath };
}
