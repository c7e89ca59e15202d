import { blockBytes, entryType, type Operation } from '@lockstep/shared';
import { permissions } from '../../core/entry.ts';
import type { ActionRequest } from '../../core/plan/action.ts';
import type { Draft, DraftContent } from '../ports/folder.ts';
import {
  type AccessParts,
  type Done,
  entryRefusal,
  execute,
  journaled,
  type Place,
  pausedRefusal,
  placeOf,
  settledRefusal,
} from './access-parts.ts';
import { type Condition, conditionRefusal, type Refused, refused } from './condition.ts';
import { removeCopy, type SettledCopy, seenCopy } from './settled-copy.ts';

/** A file that a person puts into the folder. */
export interface PutRequest {
  readonly path: string;
  readonly condition: Condition;
  /** Its bytes, as far as they are known in advance. */
  readonly size: number | undefined;
  /** Throws if they do not come to their end: then nothing is put there. */
  readonly chunks: AsyncIterable<Uint8Array>;
  /** A conflict copy that the file settles: it is removed afterwards, and nothing is put if it has another version. */
  readonly settles?: SettledCopy | undefined;
}

/** The mode of a file that is new. */
const fileMode = 0o644;

/**
 * Puts a file into the folder, with the directories that are missing above it. The bytes go to staging as they come, and are in the folder
 * all at once: until then nothing is visible. The result is journaled as a user's change, and what is replaced goes to history. Rejects
 * with the error of `chunks`.
 */
export async function putFile(parts: AccessParts, request: PutRequest): Promise<Done | Refused> {
  const { path, size = 0, chunks } = request;
  const early =
    pausedRefusal(parts) ??
    (await entryRefusal(parts, { path, isDirectory: false, size })) ??
    (await settledRefusal(parts, path)) ??
    (await parts.context.lock.run(() => freePlace(parts, request)));
  if ('done' in early) return early;
  const room = await parts.cache.reserve(path, size);
  if ('reason' in room) return refused('disk-full', room.reason);
  let reserved = room;
  const draft = parts.context.folder.draft();
  try {
    const content = await fill(draft, chunks, path);
    if ('done' in content) return content;
    // Its size was not known in advance.
    const more = request.size === undefined ? await parts.cache.reserve(path, content.size) : undefined;
    if (more !== undefined) {
      if ('reason' in more) return refused('disk-full', more.reason);
      reserved = more;
    }
    return pausedRefusal(parts) ?? (await settledRefusal(parts, path)) ?? (await place(parts, request, draft, content));
  } finally {
    reserved.end();
    await draft.drop();
  }
}

/** Where the file goes, or why it cannot: asked before its bytes come, and again afterwards. */
async function freePlace({ context }: AccessParts, { path, condition, settles }: PutRequest): Promise<Place | Refused> {
  const copy = settles && (await seenCopy(context, settles));
  if (copy !== undefined && 'done' in copy) return copy;
  const place = await placeOf(context, path);
  if ('done' in place) return place;
  const { operation } = place.current;
  if (operation !== undefined && entryType(operation) === 'directory') {
    return refused('not-written', `There is a directory at ${path}: rename or delete it first.`, operation);
  }
  return conditionRefusal(condition, path, operation) ?? place;
}

/** Writes the bytes into staging, block by block, no faster than the disk takes them. */
async function fill(draft: Draft, chunks: AsyncIterable<Uint8Array>, path: string): Promise<DraftContent | Refused> {
  const block = new Uint8Array(blockBytes);
  let length = 0;
  const add = async (): Promise<Refused | undefined> => {
    const added = await draft.add(block.subarray(0, length));
    length = 0;
    if (added === 'ok') return undefined;
    if (added === 'lost') return lost(path);
    return refused('disk-full', `There is no more room on the disk of the folder for ${path}. Free some space first.`);
  };
  for await (const chunk of chunks) {
    for (let taken = 0; taken < chunk.length; ) {
      const part = chunk.subarray(taken, taken + blockBytes - length);
      block.set(part, length);
      length += part.length;
      taken += part.length;
      const failure = length === blockBytes ? await add() : undefined;
      if (failure !== undefined) return failure;
    }
  }
  const failure = length > 0 ? await add() : undefined;
  return failure ?? (await draft.finish()) ?? lost(path);
}

async function place(
  parts: AccessParts,
  request: PutRequest,
  draft: Draft,
  { content, blocks, size }: DraftContent,
): Promise<Done | Refused> {
  const { context } = parts;
  const { path } = request;
  const placed = await context.lock.run(async (): Promise<Done | Refused | { readonly isNew: boolean }> => {
    const free = await freePlace(parts, request);
    if ('done' in free) return free;
    const { current, parents } = free;
    const before = current.operation;
    // The same bytes again change nothing: the file keeps its time.
    if (before !== undefined && before.content === content) {
      return { done: true, isNew: false, operation: before };
    }
    const requests: ActionRequest[] = parents.map((action) => ({ action }));
    const isFile = before?.content !== undefined;
    requests.push({
      action: {
        do: 'write',
        path,
        expected: 'fingerprint' in current ? current.fingerprint : 'absent',
        content,
        blocks,
        size,
        mode: isFile && 'fingerprint' in current ? permissions(current.fingerprint.mode) : fileMode,
        mtimeUs: context.clock.wallMs() * 1_000,
        source: { from: 'draft', name: draft.name },
      },
      keep: before?.content,
    });
    const failure = await execute(parts, requests, path);
    if (failure !== undefined) return failure;
    if ('isRemote' in current) await replaceRemote(parts, current.operation);
    return { isNew: before === undefined };
  });
  if ('done' in placed && !placed.done) return placed;
  const done: Done =
    'done' in placed ? placed : { done: true, isNew: placed.isNew, operation: await journaled(parts, path, size) };
  if (request.settles === undefined) return done;
  // Only when the content is journaled: by this order the journal tells how the conflict was settled.
  const refusal = await context.lock.run(() => removeCopy(parts, request));
  await journaled(parts, request.settles.copy);
  return refusal ?? done;
}

/** Notes that the file that was just put replaces a version that this disk never showed: its author knew of it all the same. */
async function replaceRemote({ context }: AccessParts, { path, origin, seq }: Operation): Promise<void> {
  const { journal, folder } = context;
  const [seen] = await folder.observe([{ path }]);
  if (seen === undefined || !('fingerprint' in seen) || seen.fingerprint === undefined) return;
  // Racy, and without a content: the file is read before anything is made of this row.
  journal.recordDisk([{ path, entry: { dot: { origin, seq }, fingerprint: seen.fingerprint, racy: true } }]);
}

function lost(path: string): Refused {
  return refused('not-written', `What had come of ${path} was removed from .lockstep/staging meanwhile: try again.`);
}
