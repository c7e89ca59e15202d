import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import type { ContentId } from '@lockstep/shared';
import { blockCount, blockRange } from '../core/blocks.ts';
import type { ContentSource } from '../sync/ports/folder.ts';
import { contentOfFileName, type ExpectedBlock, expectedBlock, fitsContent, isBlock } from './content-id.ts';
import { syncPath } from './durable.ts';
import { lstatIfThere } from './entry-stat.ts';
import { errorCodeOf } from './path-problem.ts';
import { absolutePath, type Places, parentStands } from './places.ts';
import { readFully, withFile } from './read-content.ts';
import { blockFilePath, historyPath, roomBytes, temporaryPath, writeFully } from './staging.ts';

/** A content as its operation describes it. */
export interface ContentDescription {
  readonly content: ContentId;
  readonly blocks?: Uint8Array | undefined;
  readonly size: number;
}

const stagedMode = 0o600;
const stageFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW;

/** Writes one block into the file where the content is gathered, once it is known to be that block. Runs in a worker. */
export function stageBlock(places: Places, block: ExpectedBlock, bytes: Uint8Array): 'ok' | 'corrupt' | 'disk-full' {
  const { content, size, index } = block;
  if (!isBlock(bytes, block)) return 'corrupt';
  try {
    if (bytes.length > roomBytes(places)) return 'disk-full';
    const fd = openSync(blockFilePath(places, content), stageFlags, stagedMode);
    try {
      writeFully(fd, bytes, blockRange(size, index).offset);
    } finally {
      closeSync(fd);
    }
    return 'ok';
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOSPC' || code === 'EDQUOT') return 'disk-full';
    throw error;
  }
}

/** Removes what was gathered of a content. Runs in a worker. */
export function unstage(places: Places, content: ContentId): void {
  rmSync(blockFilePath(places, content), { force: true });
}

/** Reads and verifies one block of a content. Runs in a worker. */
export function readBlock(places: Places, block: ExpectedBlock, source: ContentSource): Uint8Array | undefined {
  const { content, size, index } = block;
  const path = readablePath(places, source, content);
  if (path === undefined) return undefined;
  const { offset, length } = blockRange(size, index);
  const bytes = readRange(path, offset, length);
  return bytes !== undefined && isBlock(bytes, block) ? bytes : undefined;
}

/** Puts a durable copy of a content into history. False when the source does not have it, or there is no room. Runs in a worker. */
export function keep(places: Places, request: ContentDescription & { readonly source: ContentSource }): boolean {
  const { content, blocks, size, source } = request;
  const kept = historyPath(places, content);
  if (existsSync(kept)) return true;
  if (!fitsContent(content, blocks, size) || size > roomBytes(places)) return false;
  const temporary = temporaryPath(places);
  try {
    const fd = openSync(temporary, stageFlags | constants.O_EXCL, stagedMode);
    try {
      for (let index = 0; index < blockCount(size); index++) {
        const { offset, length } = blockRange(size, index);
        const block = expectedBlock({ content, blocks, size, index });
        const bytes =
          source.from === 'bytes' ? source.bytes.subarray(offset, offset + length) : readBlock(places, block, source);
        if (bytes === undefined || !isBlock(bytes, block)) return false;
        writeFully(fd, bytes, offset);
      }
    } finally {
      closeSync(fd);
    }
    syncPath(temporary);
    renameSync(temporary, kept);
    syncPath(places.history);
    return true;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return false;
  } finally {
    rmSync(temporary, { force: true });
  }
}

/** Which of these contents history holds. Runs in a worker. */
export function inHistory(places: Places, contents: readonly ContentId[]): readonly ContentId[] {
  return contents.filter((content) => existsSync(historyPath(places, content)));
}

/** One version in history. */
export interface KeptVersion {
  readonly content: ContentId;
  readonly bytes: number;
  /** When it came there: the change time, which link(2) and rename(2) set. */
  readonly keptAtMs: number;
}

/** The bytes of everything that history holds, and its oldest versions, those after the first `skip`. Runs in a worker. */
export function listHistory(
  places: Places,
  { skip, limit }: { readonly skip: number; readonly limit: number },
): { readonly bytes: number; readonly oldest: readonly KeptVersion[] } {
  const versions: KeptVersion[] = [];
  let bytes = 0;
  for (const name of readdirSync(places.history)) {
    const content = contentOfFileName(name);
    const stats = content && lstatIfThere(`${places.history}/${name}`);
    if (!content || !stats) continue;
    versions.push({ content, bytes: stats.size, keptAtMs: stats.ctimeMs });
    bytes += stats.size;
  }
  versions.sort((a, b) => a.keptAtMs - b.keptAtMs);
  return { bytes, oldest: versions.slice(skip, skip + limit) };
}

/** Removes versions from history. Runs in a worker. */
export function forgetHistory(places: Places, contents: readonly ContentId[]): void {
  for (const content of contents) rmSync(historyPath(places, content), { force: true });
}

function readablePath(places: Places, source: ContentSource, content: ContentId): string | undefined {
  if (source.from === 'history') return historyPath(places, content);
  if (source.from === 'staged') return blockFilePath(places, content);
  if (source.from === 'bytes' || !parentStands(places.root, source.path)) return undefined;
  return absolutePath(places.root, source.path);
}

function readRange(path: string, offset: number, length: number): Uint8Array | undefined {
  try {
    return withFile(path, (fd) => {
      if (!fstatSync(fd).isFile()) return undefined;
      const bytes = new Uint8Array(length);
      return readFully(fd, bytes, offset) === length ? bytes : undefined;
    });
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}
