import { constants } from 'node:fs';
import type { ContentId } from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { ContentSource } from '../../sync/ports/folder.ts';
import { isWorthSyncingTogether, syncPath } from '../durable.ts';
import { lstatIfThere } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import { expectedBlock, fitsContent, isBlock } from '../read/content-id.ts';
import { removeIfThere } from '../remove.ts';
import { restoreStateDirectories } from '../state-directories.ts';
import { type ContentDescription, readBlock, writeStaged } from './block-store.ts';
import { historyPath, type KeptVersion, keptVersion, nameInHistory } from './history.ts';
import { roomBytes, stagedMode, temporaryPath } from './staging.ts';

/** A copy is never written through a link, nor over a file. */
const newFileFlags = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_CREAT | constants.O_EXCL;

/** A content to be added to history, and where its bytes are. */
export type KeepRequest = ContentDescription & { readonly source: ContentSource };

/** A copy in staging that gets a name in history. */
interface StagedCopy {
  readonly content: ContentId;
  readonly temporary: string;
  /** The position of its request. */
  readonly index: number;
}

/**
 * Adds durable copies of contents to history. Returns for each, in the same order, its entry there, or true if it was there already. False
 * if the source does not have the content, or there is no room. Many are synced together. Runs in a worker.
 */
export function keep(places: Places, requests: readonly KeepRequest[]): readonly (KeptVersion | boolean)[] {
  const outcomes = requests.map((): KeptVersion | boolean => false);
  const copies: StagedCopy[] = [];
  try {
    for (const [index, request] of requests.entries()) {
      const found = unlessRefused(() => isAlone(places, request.content) || stagedCopy(places, request));
      if (found === true) outcomes[index] = true;
      else if (found !== undefined) copies.push({ content: request.content, temporary: found, index });
    }
    const named = nameAll(
      places,
      synced(places, copies, ({ temporary }) => [temporary]),
    );
    for (const { content, index } of named) outcomes[index] = keptVersion(places, content) ?? true;
    return outcomes;
  } finally {
    for (const { temporary } of copies) removeIfThere(places.system, temporary);
  }
}

/** True if history has the content in a file of its own. One with a second name, such as one about to be replaced, can be written to. */
function isAlone(places: Places, content: ContentId): boolean {
  return lstatIfThere(places.system, historyPath(places, content))?.nlink === 1;
}

/** Writes a copy of the content to staging, and returns its path. Undefined if the source lacks it, or there is no room. */
function stagedCopy(places: Places, request: KeepRequest): string | undefined {
  const { system, hash } = places;
  const { content, blocks, size, source } = request;
  if (restoreStateDirectories(places) !== undefined) return undefined;
  if (!fitsContent(content, blocks, size) || size > roomBytes(places)) return undefined;
  const blockAt = (index: number): Uint8Array | undefined => {
    const { offset, length } = blockRange(size, index);
    const block = expectedBlock({ content, blocks, size, index });
    if (source.from !== 'bytes') return readBlock(places, block, source);
    const bytes = source.bytes.subarray(offset, offset + length);
    return isBlock(hash, bytes, block) ? bytes : undefined;
  };
  // A missing content is requested often: verify the first block before a file is created.
  const first = blockAt(0);
  if (first === undefined) return undefined;
  const temporary = temporaryPath(places);
  let isWhole = false;
  try {
    const fd = system.open(temporary, newFileFlags, stagedMode);
    try {
      for (let index = 0; index < blockCount(size); index++) {
        const bytes = index === 0 ? first : blockAt(index);
        if (bytes === undefined) return undefined;
        writeStaged(places, fd, { size, index }, bytes);
      }
    } finally {
      system.close(fd);
    }
    isWhole = true;
    return temporary;
  } finally {
    if (!isWhole) removeIfThere(system, temporary);
  }
}

/** Gives these copies their names in history, and returns those whose names are durable. */
function nameAll(places: Places, copies: readonly StagedCopy[]): readonly StagedCopy[] {
  const named = copies.flatMap((copy) => {
    const give = (place: string): void => places.system.rename(copy.temporary, place);
    const changedIn = unlessRefused(() => nameInHistory(places, copy.content, give));
    // The other worker may have just created the shard, without a sync of its name.
    return changedIn === undefined ? [] : [{ ...copy, directories: [...changedIn, places.history] }];
  });
  return synced(places, named, ({ directories }) => directories);
}

/** Makes the files or directories of these copies durable, and returns the copies for which that succeeded. */
function synced<Copy>(
  { system, state }: Places,
  copies: readonly Copy[],
  pathsOf: (copy: Copy) => readonly string[],
): readonly Copy[] {
  const paths = [...new Set(copies.flatMap(pathsOf))];
  if (isWorthSyncingTogether(system, paths.length) && system.syncFileSystem(state)) return copies;
  const done = new Set(
    paths.filter((path) =>
      unlessRefused(() => {
        syncPath(system, path);
        return true;
      }),
    ),
  );
  return copies.filter((copy) => pathsOf(copy).every((path) => done.has(path)));
}

/** The result of `work`. Undefined if the system refused it. */
function unlessRefused<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
