import { constants } from 'node:fs';
import { blockBytes, type ContentId } from '@lockstep/shared';
import { blockRange } from '../../core/blocks.ts';
import { errorCodeOf } from '../../os/system-error.ts';
import type { BlockCopy, ContentSource, StageFailure } from '../../sync/ports/folder.ts';
import type { Piece } from '../../sync/ports/pieces.ts';
import { descending } from '../descent.ts';
import { lstatIfThere } from '../entry-stat.ts';
import { problemOf } from '../path-problem.ts';
import type { Places } from '../places.ts';
import { type ExpectedBlock, isBlock } from '../read/content-id.ts';
import { readFully, withFile } from '../read/read-content.ts';
import { removeIfThere } from '../remove.ts';
import { restoreStateDirectories } from '../state-directories.ts';
import type { SystemCalls } from '../system-calls.ts';
import { historyPath } from './history.ts';
import { blockFilePath, roomBytes, stagedMode } from './staging.ts';
import { writeWithHoles } from './write-bytes.ts';

/** A content as its operation describes it. */
export interface ContentDescription {
  readonly content: ContentId;
  readonly blocks?: Uint8Array | undefined;
  readonly size: number;
}

const stageFlags = constants.O_WRONLY | constants.O_NOFOLLOW;

/** A block to be staged, and the bytes that came for it. `path`: the file for which, in words about an error. */
export interface ArrivedBlock {
  readonly path: string;
  readonly block: ExpectedBlock;
  readonly bytes: Uint8Array;
}

/** A block to be staged, and where its bytes are. */
export interface StoredBlock {
  readonly block: ExpectedBlock;
  readonly from: Exclude<BlockCopy['from'], 'zeros'>;
}

/** The result of staging copies: the indices of the staged ones, and why others failed if the source was not the reason. */
export interface StagedCopies {
  readonly result: 'ok' | StageFailure;
  readonly added: readonly number[];
}

/** The result of staging a block. */
export type StageBlockOutcome = 'ok' | 'corrupt' | StageFailure;

/**
 * Writes blocks into the staging file of the content to which all of them belong, each once its hash is verified. Only the first block
 * creates that file: if the file is missing later, another program removed it, and its blocks are lost. Runs in a worker.
 */
export function stageBlocks(
  places: Places,
  blocks: readonly ArrivedBlock[],
  isFirst: boolean,
): readonly StageBlockOutcome[] {
  let isBegun = !isFirst;
  return blocks.map((arrived) => {
    const outcome = stageBlock(places, arrived, !isBegun);
    if (outcome === 'ok') isBegun = true;
    return outcome;
  });
}

function stageBlock(places: Places, { path, block, bytes }: ArrivedBlock, isFirst: boolean): StageBlockOutcome {
  if (!isBlock(places.hash, bytes, block)) return 'corrupt';
  return writingTo(places, { path, block, isFirst }, (fd) => {
    writeStaged(places, fd, block, bytes);
    return 'ok';
  });
}

/**
 * Copies blocks of contents that are here into the staging file of the content to which all of `copies` belong: that of `path`. Each is
 * verified; one whose source does not have it any more is left out. Runs in a worker.
 */
export function stageCopies(
  places: Places,
  {
    path,
    copies,
    isFirst,
  }: { readonly path: string; readonly copies: readonly StoredBlock[]; readonly isFirst: boolean },
): StagedCopies {
  const added: number[] = [];
  const [first] = copies;
  if (first === undefined) return { result: 'ok', added };
  const result = writingTo(places, { path, block: first.block, isFirst }, (fd) => {
    for (const { block, from } of copies) {
      const bytes = readStored(places, block, from);
      if (bytes === undefined) continue;
      if (bytes.length > roomBytes(places)) return 'disk-full';
      writeStaged(places, fd, block, bytes);
      added.push(block.index);
    }
    return 'ok';
  });
  return { result, added };
}

/** Runs `write` with the staging file for a block, which it makes if this is the first one. */
function writingTo(
  places: Places,
  { path, block, isFirst }: { readonly path: string; readonly block: ExpectedBlock; readonly isFirst: boolean },
  write: (fd: number) => 'ok' | 'disk-full',
): 'ok' | StageFailure {
  const { system } = places;
  const { content, size, index } = block;
  let isOpen = false;
  try {
    if (restoreStateDirectories(places) !== undefined) return 'lost';
    if (blockRange(size, index).length > roomBytes(places)) return 'disk-full';
    const file = blockFilePath(places, content);
    // A file that could not be removed when it was placed is a user's file: it must not become shorter.
    if (isFirst) removeIfThere(system, file);
    const makes = isFirst ? constants.O_CREAT | constants.O_EXCL : 0;
    const fd = system.open(file, stageFlags | makes, stagedMode);
    isOpen = true;
    try {
      return write(fd);
    } finally {
      system.close(fd);
    }
  } catch (error) {
    const code = errorCodeOf(error);
    if (code === 'ENOSPC' || code === 'EDQUOT') return 'disk-full';
    if (code === 'ENOENT' || code === 'ENOTDIR') return 'lost';
    return problemOf(error, isOpen ? path : '.lockstep/staging');
  }
}

/** Writes a verified block at its place. */
export function writeStaged(
  { system }: Places,
  fd: number,
  { size, index }: Pick<ExpectedBlock, 'size' | 'index'>,
  bytes: Uint8Array,
): void {
  const { offset, length } = blockRange(size, index);
  writeWithHoles(system, fd, bytes, { position: offset, endsFile: offset + length === size });
}

/** Removes the staging file of a content. One that has a name in the folder too stays for the next start [MT21]. Runs in a worker. */
export function unstage(places: Places, content: ContentId): void {
  const path = blockFilePath(places, content);
  if (lstatIfThere(places.system, path)?.nlink === 1) removeIfThere(places.system, path);
}

/** Reads and verifies one block of a content, into `into` if it is given. Undefined if it cannot be read. Runs in a worker. */
export function readBlock(
  places: Places,
  block: ExpectedBlock,
  source: ContentSource,
  into?: Uint8Array,
): Uint8Array | undefined {
  return readStored(places, block, { content: block.content, index: block.index, source }, into);
}

/** Reads the bytes of `block` where they are stored, and verifies them. Undefined if they cannot be read there. */
function readStored(
  places: Places,
  block: ExpectedBlock,
  from: StoredBlock['from'],
  into: Uint8Array = new Uint8Array(blockRange(block.size, block.index).length),
): Uint8Array | undefined {
  try {
    const bytes = descending(places, (descent) => {
      if ('pieces' in from) {
        const entry = descent.entry(from.path);
        return entry === undefined ? undefined : joined(places.system, entry, from.pieces, into);
      }
      const { content, index, source } = from;
      const path = source.from === 'file' ? descent.entry(source.path) : keptPath(places, source, content);
      return path === undefined ? undefined : readRange(places.system, path, index * blockBytes, into);
    });
    return bytes !== undefined && isBlock(places.hash, bytes, block) ? bytes : undefined;
  } catch (error) {
    if (errorCodeOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The path of a content in the agent's own directories. */
function keptPath(places: Places, source: ContentSource, content: ContentId): string | undefined {
  if (source.from === 'history') return historyPath(places, content);
  return source.from === 'staged' ? blockFilePath(places, content) : undefined;
}

/** Joins the pieces of a block in `bytes`. Undefined if they are not as many, or cannot be read. */
function joined(
  system: SystemCalls,
  path: string,
  pieces: readonly Piece[],
  bytes: Uint8Array,
): Uint8Array | undefined {
  if (pieces.reduce((sum, { length }) => sum + length, 0) !== bytes.length) return undefined;
  return withFile(system, path, (fd) => {
    if (!system.fstat(fd).isFile()) return undefined;
    let at = 0;
    for (const piece of pieces) {
      const target = bytes.subarray(at, at + piece.length);
      if (piece instanceof Uint8Array) target.set(piece);
      else if (readFully(system, fd, target, piece.offset) !== piece.length) return undefined;
      at += piece.length;
    }
    return bytes;
  });
}

/** Reads a range of a file into `bytes`, and returns them. Undefined if it is no file, or not so long. */
export function readRange(
  system: SystemCalls,
  path: string,
  offset: number,
  bytes: Uint8Array,
): Uint8Array | undefined {
  return withFile(system, path, (fd) => {
    if (!system.fstat(fd).isFile()) return undefined;
    return readFully(system, fd, bytes, offset) === bytes.length ? bytes : undefined;
  });
}
