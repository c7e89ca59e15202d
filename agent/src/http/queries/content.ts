import { dotKey, LockstepError, type Operation } from '@lockstep/shared';
import { blockCount } from '../../core/blocks.ts';
import type { Engine } from '../../sync/engine.ts';
import type { ContentSource } from '../../sync/ports/folder.ts';
import { fileSource, filesWith } from '../../sync/transfer/local-content.ts';
import { shownBytesMax, shownType } from '../shown-type.ts';

/** The bytes to show to a person, and their media type for the browser. */
export interface ShownContent {
  readonly bytes: Uint8Array;
  readonly type: string;
}

/**
 * The bytes of a file on this member's disk: the entry at `path`, or with `version` (`origin:seq`) that version, if it is still there. Read
 * through the folder's port, which follows no link and returns only bytes that match the content id. Throws `content-unavailable`.
 */
export async function readContent(engine: Engine, path: string, version?: string): Promise<ShownContent> {
  const operation = operationAt(engine, path, version);
  const { content, blocks, size = 0 } = operation ?? {};
  if (operation === undefined || content === undefined) {
    throw unavailable(`This member has no such version of a file at ${path}: reload the list.`);
  }
  const bytesMax = shownBytesMax(path);
  if (size > bytesMax) {
    throw unavailable(`${path} has ${size} bytes, more than the ${bytesMax} that can be shown: open it in the folder.`);
  }
  for (const source of sourcesOf(engine, operation)) {
    const bytes = await readAll(engine, { content, blocks, size }, source);
    if (bytes !== undefined) return { bytes, type: shownType(path, bytes) };
  }
  throw unavailable(`This member's disk does not have the requested version of ${path}: reload the list.`);
}

function operationAt(engine: Engine, path: string, version: string | undefined): Operation | undefined {
  const { journal } = engine.context;
  if (version === undefined) {
    const row = journal.disk(path);
    return row?.fingerprint === undefined ? undefined : journal.operation(row.dot);
  }
  return journal
    .log({ path, beforeRow: Number.MAX_SAFE_INTEGER, limit: versionsLookedAtMax })
    .map(({ operation }) => operation)
    .find((operation) => dotKey(operation) === version);
}

/** The number of the path's newest versions that are searched: no view shows older ones. */
const versionsLookedAtMax = 100;

function* sourcesOf(engine: Engine, { content }: Operation): Iterable<ContentSource> {
  if (content === undefined) return;
  for (const file of filesWith(engine.context, content)) yield fileSource(file);
  yield { from: 'history' };
}

async function readAll(
  engine: Engine,
  described: {
    readonly content: NonNullable<Operation['content']>;
    readonly blocks?: Uint8Array | undefined;
    readonly size: number;
  },
  source: ContentSource,
): Promise<Uint8Array | undefined> {
  const { folder } = engine.context;
  const parts: Uint8Array[] = [];
  for (let index = 0; index < blockCount(described.size); index++) {
    const bytes = await folder.readBlock({ ...described, index, source });
    if (bytes === undefined) return undefined;
    parts.push(bytes);
  }
  return Buffer.concat(parts);
}

function unavailable(message: string): LockstepError {
  return new LockstepError('content-unavailable', message);
}
