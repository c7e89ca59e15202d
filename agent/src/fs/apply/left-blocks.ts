import type { ContentId } from '@lockstep/shared';
import { lstatIfThere } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import { contentOfFileName, type ExpectedBlock } from '../read/content-id.ts';
import { removeTree } from '../remove.ts';
import { readBlock } from './block-store.ts';
import { blockFilePath, stagedMode } from './staging.ts';

/**
 * Clears staging of all that an earlier agent left there, but for blocks of contents that it was fetching. A file that has another name too was
 * being put in place: a write to it would change a user's file.
 */
export function clearStaging({ system, staging }: Places): void {
  if (lstatIfThere(system, staging)?.isDirectory() !== true) {
    removeTree(system, staging);
    return;
  }
  for (const name of system.readdir(staging)) {
    const path = `${staging}/${name}`;
    const stats = system.lstat(path);
    if (contentOfFileName(name) === undefined || !stats?.isFile() || stats.nlink !== 1) removeTree(system, path);
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
