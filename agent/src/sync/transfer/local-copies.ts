import type { ContentId, Operation } from '@lockstep/shared';
import { blockBytes } from '@lockstep/shared';
import { blockCount, blockRange } from '../../core/blocks.ts';
import { equalBlocks } from '../../core/chunks/equal-blocks.ts';
import type { Fetch } from '../exchange/fetch.ts';
import type { BlockCopy, ContentSource } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import { fileSource, hiddenPaths, isShown } from './local-content.ts';
import type { MovedBlocks } from './moved-blocks.ts';
import { scannedBytes } from './old-chunks.ts';

/** Blocks that are copied in one job of a worker: about 20 ms, for others wait for it. */
const copiesAtOnce = 16;

/**
 * Blocks that must be missing, and blocks of the old version without an equal one, before bytes that moved are sought. An append, or a change of
 * a few blocks, is not worth the round trips.
 */
const movedBlocksMin = 4;

/** A content in this member's folder, with the joined hashes of its blocks. */
interface LocalContent {
  readonly path: string;
  readonly size: number;
  readonly content: ContentId;
  readonly blocks: Uint8Array;
  readonly source: ContentSource;
}

/**
 * The blocks of the operation's content that need not be sent: those that the file to be replaced or renamed has, wherever in it, and those of
 * zeros. A content of one block has none.
 */
export function copiesFor(context: Context, { path, from, blocks, size = 0 }: Operation): readonly BlockCopy[] {
  if (blocks === undefined || size <= blockBytes) return [];
  const { folder } = context;
  const others = [path, from].flatMap((name) => (name === undefined ? [] : (contentAt(context, name) ?? [])));
  const equal = equalBlocks(
    blocks,
    others.map((other) => other.blocks),
    folder.zeroBlockHash,
  );
  return [...equal].flatMap(([index, place]): readonly BlockCopy[] => {
    if (place === 'zeros') return [{ index, from: 'zeros' }];
    const other = others[place.other];
    if (other === undefined) return [];
    return [{ index, from: { content: other.content, index: place.index, source: other.source } }];
  });
}

function contentAt({ journal, problems }: Context, path: string): LocalContent | undefined {
  const row = journal.disk.at(path);
  if (row?.content === undefined || !isShown(row, hiddenPaths(problems))) return undefined;
  const { content, blocks, size } = journal.log.operation(row.dot) ?? {};
  if (blocks === undefined || size === undefined || content !== row.content) return undefined;
  return { path, size, content, blocks, source: fileSource(row) };
}

/** The blocks that may be elsewhere in the file to be replaced or renamed: those not in `here`, if there are enough. `copies`: see `copiesFor`. */
export function movedFor(
  context: Context,
  { path, from, blocks, size = 0 }: Operation,
  copies: readonly BlockCopy[],
  here: ReadonlySet<number>,
): MovedBlocks | undefined {
  if (blocks === undefined || size <= blockBytes) return undefined;
  const taken = new Set([...here, ...copies.map(({ index }) => index)]);
  const missing: number[] = [];
  for (let index = 0; index < blockCount(size); index++) if (!taken.has(index)) missing.push(index);
  if (missing.length < movedBlocksMin) return undefined;
  const old = contentAt(context, path) ?? (from === undefined ? undefined : contentAt(context, from));
  if (old === undefined) return undefined;
  const equal = new Set(
    copies.flatMap(({ from: place }) =>
      typeof place === 'object' && 'index' in place && place.content === old.content ? place.index : [],
    ),
  );
  const parts = new Set<number>();
  let unequal = 0;
  for (let index = 0; index < blockCount(old.size); index++) {
    if (equal.has(index)) continue;
    unequal++;
    // A chunk may begin in the block before.
    const { offset, length } = blockRange(old.size, index);
    parts.add(Math.floor(Math.max(0, offset - blockBytes) / scannedBytes));
    parts.add(Math.floor((offset + length - 1) / scannedBytes));
  }
  return unequal < movedBlocksMin ? undefined : { missing, old: { path: old.path, size: old.size, parts } };
}

/**
 * Stages blocks that are here already, in steps, and calls `proceed` after each. A block that could not be copied is to be requested. Ends early
 * if the fetch fails or is not needed any more.
 */
export async function stageCopies(
  { folder, facts }: Context,
  fetch: Fetch,
  copies: readonly BlockCopy[],
  proceed: () => void,
): Promise<void> {
  const { content, size, operation } = fetch;
  const { path, blocks } = operation;
  const left = [...copies];
  while (left.length > 0 && fetch.failure === undefined && !fetch.isUnneeded) {
    const some = left.splice(0, copiesAtOnce);
    const { result, added } = await folder.stageCopies({ path, content, blocks, size, copies: some });
    const isThere = new Set(added);
    for (const { index } of some) if (!isThere.has(index)) fetch.todo.again(index);
    fetch.staged += added.length;
    const bytes = bytesOf(fetch, added);
    fetch.arrivals.reuse(bytes);
    facts.reused.publish(bytes);
    if (result !== 'ok') fetch.failure = result;
    proceed();
  }
  for (const { index } of left) fetch.todo.again(index);
}

/** Counts the blocks that an earlier fetch of this content left, and returns their indices: they are not requested again. */
export async function resume({ folder }: Context, fetch: Fetch): Promise<ReadonlySet<number>> {
  const { content, size, operation } = fetch;
  const left = await folder.stagedBlocks({ content, blocks: operation.blocks, size });
  fetch.todo.skip(left);
  fetch.staged = left.length;
  fetch.arrivals.resume(bytesOf(fetch, left));
  return new Set(left);
}

function bytesOf({ size }: Fetch, indices: readonly number[]): number {
  return indices.reduce((sum, index) => sum + blockRange(size, index).length, 0);
}
