import type { ContentId } from '@lockstep/shared';
import { syncPath } from '../durable.ts';
import { lstatIfThere } from '../entry-stat.ts';
import { errorCodeOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { contentFileName, contentOfFileName } from '../read/content-id.ts';
import { removeIfThere } from '../remove.ts';
import type { EntryStats, SystemCalls } from '../system-calls.ts';

/** Directories that history is divided into, by the first two digits of the contents' hashes: none of them grows large. */
export const historyShards = 256;

/** The unit of `st_blocks`, whatever the block size of the file system is. */
const statBlockBytes = 512;

/** One version in history. */
export interface KeptVersion {
  readonly content: ContentId;
  /** What it occupies on the disk: of a small file a whole block, of a file with holes less than its size. */
  readonly bytes: number;
  /**
   * When it came there: the change time in milliseconds since the epoch, which link(2) and rename(2) set and no program can set back.
   * It is later where somebody changed another name of the same file since, or copied the folder: then the version is kept longer.
   */
  readonly keptAtMs: number;
}

/** Where a kept version lies. */
export function historyPath(places: Places, content: ContentId): string {
  return `${shardPath(places, content)}/${contentFileName(content)}`;
}

/** As `historyPath`, once the directory for it is there, durably. */
export function makeHistoryPlace(places: Places, content: ContentId): string {
  makeShard(places, shardPath(places, content));
  return historyPath(places, content);
}

/** The directory whose sync makes the name of a kept version durable. */
export function shardPath(places: Places, content: ContentId): string {
  return `${places.history}/${shardName(contentFileName(content))}`;
}

/** What history says of a version, or undefined when it does not hold it or cannot be read. */
export function keptVersion(places: Places, content: ContentId): KeptVersion | undefined {
  let stats: EntryStats | undefined;
  try {
    stats = lstatIfThere(places.system, historyPath(places, content));
  } catch (error) {
    // It is listed later.
    if (errorCodeOf(error) === undefined) throw error;
  }
  return stats && { content, bytes: stats.blocks * statBlockBytes, keptAtMs: stats.ctimeMs };
}

/** True when history holds this version. */
export function isKept(places: Places, content: ContentId): boolean {
  return lstatIfThere(places.system, historyPath(places, content)) !== undefined;
}

/** Which of these contents history holds. Runs in a worker. */
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

/** Removes versions from history. Runs in a worker. */
export function forgetHistory(places: Places, contents: readonly ContentId[]): void {
  for (const content of contents) removeIfThere(places.system, historyPath(places, content));
}

/**
 * Moves versions that lie in history itself, as an earlier Lockstep kept them, into its directories. Their age begins again with that,
 * as rename(2) sets the change time; in the order of their ages, so that the oldest ones still go first.
 */
export function moveFlatHistory(places: Places): void {
  const flat = namesIn(places.system, places.history).flatMap((name) => {
    const content = contentOfFileName(name);
    const stats = content && lstatIfThere(places.system, `${places.history}/${name}`);
    return content && stats ? [{ name, content, keptAtMs: stats.ctimeMs }] : [];
  });
  flat.sort((a, b) => a.keptAtMs - b.keptAtMs);
  for (const { name, content } of flat)
    places.system.rename(`${places.history}/${name}`, makeHistoryPlace(places, content));
}

function shardName(fileName: string): string {
  const hash = fileName.indexOf('-') + 1;
  return fileName.slice(hash, hash + 2);
}

/** Not recursively: a `.lockstep` that is gone, with its disk perhaps, must not be made by this. */
function makeShard(places: Places, shard: string): void {
  try {
    places.system.mkdir(shard, 0o700);
  } catch (error) {
    if (errorCodeOf(error) === 'EEXIST') return;
    throw error;
  }
  syncPath(places.system, places.history);
}

function namesIn(system: SystemCalls, directory: string): readonly string[] {
  try {
    return system.readdir(directory);
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return [];
    throw error;
  }
}
