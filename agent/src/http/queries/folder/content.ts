import { blockBytes, dotKey, LockstepError, type Operation, versionsMax } from '@lockstep/shared';
import { shownBytesMax } from '@lockstep/shared/present';
import { blockCount, blockRange } from '../../../core/blocks.ts';
import type { Engine } from '../../../sync/engine.ts';
import type { ContentSource } from '../../../sync/ports/folder.ts';
import { sourcesHere } from '../../../sync/transfer/local-content.ts';
import { HttpError } from '../../errors.ts';
import { shownType } from '../../shown-type.ts';

/** The bytes to show to a person, and their media type for the browser. */
export interface ShownContent {
  readonly bytes: Uint8Array;
  readonly type: string;
}

/**
 * The bytes of a file on this member's disk: the entry at `path`, or with `version` (`origin:seq`) that version, if some member still has
 * it. Read through the folder's port, which follows no link and returns only bytes that match the content id. Throws `content-unavailable`.
 */
export async function readContent(engine: Engine, path: string, version?: string): Promise<ShownContent> {
  const { size, chunks } = await openVersion(engine, findVersion(engine, path, version));
  const bytesMax = shownBytesMax(path);
  if (size > bytesMax) {
    throw unavailable(`${path} has ${size} bytes, more than the ${bytesMax} that can be shown: download it.`);
  }
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  return { bytes, type: shownType(path, bytes) };
}

/** The bytes of a file of any size, block by block. */
export interface OpenedContent {
  readonly size: number;
  /** Throws `content-unavailable` if a block cannot be read any more. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The operation of the file at `path`, or of that version of it. Throws `content-unavailable` if there is none. */
export function findVersion(engine: Engine, path: string, version?: string): Operation {
  const operation = operationAt(engine, path, version);
  if (operation?.content !== undefined) return operation;
  throw unavailable(`This member has no such version of a file at ${path}: reload the list.`);
}

/**
 * The bytes of the file of an operation, or those from `start` to `end`. `size` is that of the whole file. The first block has been read when it
 * resolves, so that most errors come before the bytes.
 */
export async function openVersion(
  engine: Engine,
  operation: Operation,
  range?: { readonly start: number; readonly end: number },
): Promise<OpenedContent> {
  const { path, content, blocks, size = 0 } = operation;
  if (content === undefined) throw unavailable(`${path} is no file.`);
  const { start, end } = range ?? { start: 0, end: size };
  if (size === 0) return { size, chunks: noChunks() };
  if (isFetchedOnDemand(engine, operation)) return { size, chunks: await onDemand(engine, operation, { start, end }) };
  if ((await engine.oldVersions.findHere(content)) === undefined) {
    // Then no source has it, which the first block tells.
    await engine.oldVersions.obtain(operation);
  }
  const block = async (index: number): Promise<Uint8Array> => {
    for (const source of sourcesOf(engine, operation)) {
      const bytes = await engine.context.folder.readBlock({ content, blocks, size, index, source });
      if (bytes !== undefined) {
        const { offset } = blockRange(size, index);
        return bytes.subarray(Math.max(0, start - offset), Math.max(0, end - offset));
      }
    }
    throw unavailable(`No member that is reached has the requested version of ${path}: reload the list.`);
  };
  return { size, chunks: await blocksOf({ start, end }, block) };
}

/** The blocks that have the bytes from `start` to `end`. The first has been read when it resolves. */
async function blocksOf(
  { start, end }: { readonly start: number; readonly end: number },
  block: (index: number) => Promise<Uint8Array>,
): Promise<AsyncIterable<Uint8Array>> {
  const firstIndex = Math.floor(start / blockBytes);
  const count = blockCount(end);
  const first = await block(firstIndex);
  async function* chunks(): AsyncIterable<Uint8Array> {
    yield first;
    for (let index = firstIndex + 1; index < count; index++) yield await block(index);
  }
  return chunks();
}

/** True for the present version of a file of a member that fetches contents on demand. */
function isFetchedOnDemand({ context }: Engine, operation: Operation): boolean {
  const [head] = context.journal.heads.at(operation.path);
  return context.self.onDemand === true && head !== undefined && dotKey(head) === dotKey(operation);
}

/** The bytes from `start` to `end` of such a file, each block as soon as it is here. */
async function onDemand(
  engine: Engine,
  operation: Operation,
  range: { readonly start: number; readonly end: number },
): Promise<AsyncIterable<Uint8Array>> {
  const { path, size = 0 } = operation;
  // A reader that asks for one part after the other reads the file once.
  const goesOn = range.start > 0;
  const stream = engine.onDemand.stream(operation, { goesOn });
  if (!goesOn) engine.onDemand.used(path);
  return blocksOf(range, async (index) => {
    const bytes = await stream.block(index);
    if ('reason' in bytes) {
      if (bytes.isReplaced) throw new HttpError(410, { code: 'version-replaced', message: bytes.reason });
      throw bytes.code === 'disk-full'
        ? new HttpError(507, { code: 'disk-full', message: bytes.reason })
        : unavailable(bytes.reason);
    }
    const { offset } = blockRange(size, index);
    return bytes.subarray(Math.max(0, range.start - offset), Math.max(0, range.end - offset));
  });
}

async function* noChunks(): AsyncIterable<Uint8Array> {}

function operationAt(engine: Engine, path: string, version: string | undefined): Operation | undefined {
  const { journal } = engine.context;
  if (version === undefined) {
    const row = journal.disk.at(path);
    return row?.fingerprint === undefined && row?.remote !== true ? undefined : journal.log.operation(row.dot);
  }
  return journal.log
    .rows({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: versionsMax })
    .map(({ operation }) => operation)
    .find((operation) => dotKey(operation) === version);
}

function sourcesOf(engine: Engine, { content }: Operation): Iterable<ContentSource> {
  return content === undefined ? [] : sourcesHere(engine.context, content, ['folder', 'history']);
}

function unavailable(message: string): LockstepError {
  return new LockstepError('content-unavailable', message);
}
