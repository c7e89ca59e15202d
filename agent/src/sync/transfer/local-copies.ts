import type { ContentId, Operation } from '@lockstep/shared';
import { blockBytes } from '@lockstep/shared';
import { blockRange } from '../../core/blocks.ts';
import { equalBlocks } from '../../core/equal-blocks.ts';
import type { Fetch } from '../exchange/fetch.ts';
import type { BlockCopy, ContentSource } from '../ports/folder.ts';
import type { Context } from '../state/context.ts';
import { fileSource, hiddenPaths, isShown } from './local-content.ts';

/** Blocks that are copied in one job of a worker: about 20 ms, for others wait for it. */
const copiesAtOnce = 16;

/** A content in this member's folder, with the joined hashes of its blocks. */
interface LocalContent {
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
  const row = journal.disk(path);
  if (row?.content === undefined || !isShown(row, hiddenPaths(problems))) return undefined;
  const { content, blocks } = journal.operation(row.dot) ?? {};
  if (blocks === undefined || content !== row.content) return undefined;
  return { content, blocks, source: fileSource(row) };
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
  const left = [...copies];
  while (left.length > 0 && fetch.failure === undefined && !fetch.isUnneeded) {
    const some = left.splice(0, copiesAtOnce);
    const { result, added } = await folder.stageCopies({ content, blocks: operation.blocks, size, copies: some });
    const isThere = new Set(added);
    for (const { index } of some) if (!isThere.has(index)) fetch.todo.again(index);
    fetch.staged += added.length;
    const bytes = bytesOf(fetch, added);
    fetch.reusedBytes += bytes;
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
  fetch.reusedBytes = bytesOf(fetch, left);
  return new Set(left);
}

function bytesOf({ size }: Fetch, indices: readonly number[]): number {
  return indices.reduce((sum, index) => sum + blockRange(size, index).length, 0);
}
