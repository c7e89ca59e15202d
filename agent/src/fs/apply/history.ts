import { type ContentId, parentOf } from '@lockstep/shared';
import { errorCodeOf } from '../../os/system-error.ts';
import { syncPath } from '../durable.ts';
import { lstatIfThere } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import { contentFileName, contentOfFileName } from '../read/content-id.ts';
import { removeIfThere } from '../remove.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';

/** The number of directories in history, one for each value of the first two digits of a hash: none of them grows large. */
export const historyShards = 256;

/** The unit of `st_blocks`, independent of the file system's block size. */
const statBlockBytes = 512;

/** One version in history. */
export interface KeptVersion {
  readonly content: ContentId;
  /** The space that it occupies: at least one block for a small file, less than the size for a file with holes. */
  readonly bytes: number;
  /**
   * When it was added: the change time in milliseconds since the epoch, which link(2) and rename(2) set and no program can set back. It is
   * later if another name of the file was changed since, or the folder was copied: the version is then kept longer.
   */
  readonly keptAtMs: number;
}

/** A version that was added to history. */
export interface AddedVersion {
  readonly content: ContentId;
  /** The directories whose sync makes its name durable. */
  readonly changedIn: readonly string[];
}

/** The path of a version in history. */
export function historyPath({ history }: Pick<Places, 'history'>, content: ContentId): string {
  const name = contentFileName(content);
  return `${history}/${shardName(name)}/${name}`;
}

/**
 * Calls `give` with the path for a version in history, to create that name, and creates its directory if necessary. Returns the
 * directories whose sync makes the name durable.
 */
export function nameInHistory(places: Places, content: ContentId, give: (place: string) => void): readonly string[] {
  const place = historyPath(places, content);
  const shard = parentOf(place);
  try {
    give(place);
    return [shard];
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error;
  }
  makeShard(places, shard);
  give(place);
  return [shard, places.history];
}

/** A version in history. Undefined if it is not there or cannot be read. */
export function keptVersion(places: Places, content: ContentId): KeptVersion | undefined {
  let stats: EntryStats | undefined;
  try {
    stats = lstatIfThere(places.system, historyPath(places, content));
  } catch (error) {
    // The next listing finds it.
    if (errorCodeOf(error) === undefined) throw error;
  }
  return stats && { content, bytes: stats.blocks * statBlockBytes, keptAtMs: stats.ctimeMs };
}

/** True if history has this version. */
export function isKept(places: Places, content: ContentId): boolean {
  return lstatIfThere(places.system, historyPath(places, content)) !== undefined;
}

/** Those of the contents that history has. Runs in a worker. */
export function inHistory(places: Places, contents: readonly ContentId[]): readonly ContentId[] {
  return contents.filter((content) => isKept(places, content));
}

/** The versions in some of the directories of history, `from` inclusive, `to` exclusive. Runs in a worker. */
export function listHistory(
  places: Places,
  { from, to }: { readonly from: number; readonly to: number },
): readonly KeptVersion[] {
  const versions: KeptVersion[] = [];
  for (let shard = from; shard < to; shard++) {
    for (const name of namesIn(places.system, `${places.history}/${shard.toString(16).padStart(2, '0')}`)) {
      const content = contentOfFileName(name);
      const version = content && keptVersion(places, content);
      if (version !== undefined) versions.push(version);
    }
  }
  return versions;
}

/** Removes versions from history, but for one that a file of the folder is still, after a failed replacement [MT21]. Runs in a worker. */
export function forgetHistory(places: Places, contents: readonly ContentId[]): void {
  for (const content of contents) {
    const path = historyPath(places, content);
    if (lstatIfThere(places.system, path)?.nlink === 1) removeIfThere(places.system, path);
  }
}

/**
 * Moves versions of an earlier release, which lie directly in `history`, into its directories. rename(2) resets their ages, so they are
 * moved oldest first.
 */
export function moveFlatHistory(places: Places): void {
  const flat = namesIn(places.system, places.history).flatMap((name) => {
    const content = contentOfFileName(name);
    const stats = content && lstatIfThere(places.system, `${places.history}/${name}`);
    return content && stats ? [{ name, content, keptAtMs: stats.ctimeMs }] : [];
  });
  flat.sort((a, b) => a.keptAtMs - b.keptAtMs);
  const touched = new Set<string>();
  for (const { name, content } of flat) {
    const move = (place: string): void => places.system.rename(`${places.history}/${name}`, place);
    for (const directory of nameInHistory(places, content, move)) touched.add(directory);
  }
  for (const directory of touched) syncPath(places.system, directory);
}

function shardName(fileName: string): string {
  const hash = fileName.indexOf('-') + 1;
  return fileName.slice(hash, hash + 2);
}

/** Not recursive: a `.lockstep` that is missing, perhaps with its disk, must not be created here. */
function makeShard(places: Places, shard: string): void {
  try {
    places.system.mkdir(shard, 0o700);
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return;
    throw error;
  }
}

function namesIn(system: SystemCalls, directory: string): readonly string[] {
  try {
    return system.readdir(directory);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
