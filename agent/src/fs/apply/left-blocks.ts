import type { ContentId } from '@lockstep/shared';
import { lstatIfThere } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import { contentOfFileName, type ExpectedBlock } from '../read/content-id.ts';
import { readBlock } from './block-store.ts';
import { blockFilePath, stagedMode } from './staging.ts';

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
