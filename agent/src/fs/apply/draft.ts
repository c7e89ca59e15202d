import { constants } from 'node:fs';
import { blockBytes } from '@lockstep/shared';
import { errorCodeOf } from '../../os/system-error.ts';
import type { CopiedFile } from '../../sync/ports/folder.ts';
import { descending } from '../descent.ts';
import { syncPath } from '../durable.ts';
import { hasContentOf, lstatIfThere } from '../entry-stat.ts';
import type { Places } from '../places.ts';
import { contentOfHashes, type HashedContent, hashesOf } from '../read/content-id.ts';
import { readContent, withFile } from '../read/read-content.ts';
import { removeIfThere } from '../remove.ts';
import { restoreStateDirectories } from '../state-directories.ts';
import { draftPath, roomBytes } from './staging.ts';
import { writeFully } from './write-bytes.ts';

/** One block of a draft. `isFirst`: it makes the file. If that is missing later, another program removed it. */
export interface DraftBlock {
  readonly name: string;
  readonly index: number;
  readonly bytes: Uint8Array;
  readonly isFirst: boolean;
}

/** A draft that begins with the bytes of a file of the folder. */
export interface DraftCopy {
  readonly name: string;
  readonly file: CopiedFile;
}

/** The hashes of the blocks of a copy, joined, or why there is none. */
export type CopiedHashes = Uint8Array | 'disk-full' | 'lost' | 'source-gone';

/** The hash of a block that was written, or why it was not. */
export type WrittenBlock = Uint8Array | 'disk-full' | 'lost';

/** A draft with all its blocks. */
export interface FilledDraft {
  readonly name: string;
  /** The hashes of its blocks, joined. */
  readonly blocks: Uint8Array;
  readonly size: number;
}

/** The agent alone may read it until it has the mode of its file. */
const draftMode = 0o600;
const writeFlags = constants.O_WRONLY | constants.O_NOFOLLOW;

/** Writes one block of a draft into staging, and hashes it. Runs in a worker. */
export function writeDraft(places: Places, { name, index, bytes, isFirst }: DraftBlock): WrittenBlock {
  const { system, hash } = places;
  return written(places, bytes.length, () => {
    const makes = isFirst ? constants.O_CREAT | constants.O_EXCL : 0;
    const fd = system.open(draftPath(places, name), writeFlags | makes, draftMode);
    try {
      writeFully(system, fd, bytes, index * blockBytes);
    } finally {
      system.close(fd);
    }
    return new Uint8Array(hash(bytes));
  });
}

/**
 * Begins a draft with a copy of a file, with shared blocks if the file system can do that. The copy is verified: damage would look like bytes
 * that a user wrote. Runs in a worker.
 */
export function copyDraft(places: Places, { name, file }: DraftCopy): CopiedHashes {
  const { system } = places;
  const { path, fingerprint, content, blocks, size } = file;
  return written(places, size, () => {
    const draft = draftPath(places, name);
    const isCopied = descending(places, (descent) => {
      const found = descent.find(path);
      if (!found?.stats.isFile() || !hasContentOf(found.stats, fingerprint)) return false;
      system.copyFile(found.entry, draft);
      return true;
    });
    if (!isCopied) return 'source-gone';
    system.chmod(draft, draftMode);
    const copied = withFile(system, draft, (fd) => readContent(places, fd, size, 0));
    return copied?.content === content ? hashesOf({ content, ...(blocks && { blocks }) }) : 'source-gone';
  });
}

/** The result of `write`, which writes so many bytes into staging, or why they cannot be written. */
function written<T>(places: Places, bytes: number, write: () => T): T | 'disk-full' | 'lost' {
  try {
    if (restoreStateDirectories(places) !== undefined) return 'lost';
    if (bytes > roomBytes(places)) return 'disk-full';
    return write();
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') return 'disk-full';
    if (code === undefined) throw error;
    return 'lost';
  }
}

/** Makes the bytes of a draft durable, and returns its content. Runs in a worker. */
export function finishDraft(places: Places, { name, blocks, size }: FilledDraft): HashedContent | 'lost' {
  const { system } = places;
  const path = draftPath(places, name);
  try {
    if (lstatIfThere(system, path)?.size !== size) return 'lost';
    syncPath(system, path);
    return contentOfHashes(blocks, size);
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return 'lost';
  }
}

/** Removes a draft that is still in staging. Runs in a worker. */
export function dropDraft(places: Places, name: string): void {
  removeIfThere(places.system, draftPath(places, name));
}
