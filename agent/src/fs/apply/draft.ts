import { constants } from 'node:fs';
import { blockBytes } from '@lockstep/shared';
import { syncPath } from '../durable.ts';
import { lstatIfThere } from '../entry-stat.ts';
import { errorCodeOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { contentOfHashes, type HashedContent } from '../read/content-id.ts';
import { removeIfThere } from '../remove.ts';
import { restoreStateDirectories } from '../state-directories.ts';
import { draftPath, roomBytes } from './staging.ts';
import { writeFully } from './write-bytes.ts';

/** One block of a draft. Only the first one creates the file: if it is missing later, another program removed it. */
export interface DraftBlock {
  readonly name: string;
  readonly index: number;
  readonly bytes: Uint8Array;
}

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
export function writeDraft(places: Places, { name, index, bytes }: DraftBlock): WrittenBlock {
  const { system, hash } = places;
  try {
    if (restoreStateDirectories(places) !== undefined) return 'lost';
    if (bytes.length > roomBytes(places)) return 'disk-full';
    const makes = index === 0 ? constants.O_CREAT | constants.O_EXCL : 0;
    const fd = system.open(draftPath(places, name), writeFlags | makes, draftMode);
    try {
      writeFully(system, fd, bytes, index * blockBytes);
    } finally {
      system.close(fd);
    }
    return new Uint8Array(hash(bytes));
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
