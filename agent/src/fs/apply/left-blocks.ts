import type { ContentId } from '@lockstep/shared';
import type { ReleasedFile } from '../../sync/ports/folder.ts';
import { fingerprintOf, lstatIfThere } from '../entry-stat.ts';
import { errorCodeOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { contentOfFileName, type ExpectedBlock } from '../read/content-id.ts';
import { withFile } from '../read/read-content.ts';
import { removeIfThere, removeTree } from '../remove.ts';
import type { SystemCalls } from '../system-calls.ts';
import { readBlock } from './block-store.ts';
import { blockFilePath, changeTimeBefore, stagedMode } from './staging.ts';

/**
 * Clears staging of all that an earlier agent left there, but for blocks of contents that it was fetching. A file that has another name too was
 * being put in place: a write to it would change a user's file. Returns the files that still have another name.
 */
export function clearStaging({ system, staging }: Places): readonly ReleasedFile[] {
  if (lstatIfThere(system, staging)?.isDirectory() !== true) {
    removeTree(system, staging);
    return [];
  }
  const released: ReleasedFile[] = [];
  for (const name of system.readdir(staging)) {
    const path = `${staging}/${name}`;
    const stats = system.lstat(path);
    const isFile = stats?.isFile() === true;
    if (isFile && stats.nlink === 1 && contentOfFileName(name) !== undefined) continue;
    const file = isFile && stats.nlink > 1 ? release(system, path, name) : undefined;
    if (file === undefined) removeTree(system, path);
    else released.push(file);
  }
  return released;
}

/** Removes one of several names of a file. Undefined if the agent may not read it, so that no detection can either. */
function release(system: SystemCalls, path: string, name: string): ReleasedFile | undefined {
  try {
    return withFile(system, path, (fd) => {
      const now = fingerprintOf(system.fstat(fd));
      const before = { ...now, ctimeMs: changeTimeBefore(name, now) ?? now.ctimeMs };
      removeIfThere(system, path);
      return { before, after: fingerprintOf(system.fstat(fd)) };
    });
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The contents of which staging has blocks. */
export function leftContents({ system, staging }: Places): readonly ContentId[] {
  return system.readdir(staging).flatMap((name) => contentOfFileName(name) ?? []);
}

/** Those of these blocks of one content that an earlier agent staged, by their indices: each is read and verified. Runs in a worker. */
export function findStaged(places: Places, blocks: readonly ExpectedBlock[]): readonly number[] {
  const [first] = blocks;
  if (first === undefined) return [];
  const path = blockFilePath(places, first.content);
  if (lstatIfThere(places.system, path)?.nlink !== 1) return [];
  // It may have been killed when it had given the file its own mode.
  places.system.chmod(path, stagedMode);
  return blocks.flatMap((block) => (readBlock(places, block, { from: 'staged' }) === undefined ? [] : block.index));
}
