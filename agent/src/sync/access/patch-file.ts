import { dotKey, type Operation } from '@lockstep/shared';
import { blockCount } from '../../core/blocks.ts';
import type { CopiedFile, Draft, DraftContent } from '../ports/folder.ts';
import { type AccessParts, type Done, entryRefusal, pausedRefusal } from './access-parts.ts';
import { type Refused, refused } from './condition.ts';
import { changedFile, fillDraft, fillFailure } from './fill-draft.ts';
import { changeSettled, type PlaceAt } from './place.ts';
import { freePlace, type Placement, placeDraft } from './place-draft.ts';

/** Bytes of a file that a person replaces, or adds at its end. */
export interface PatchRequest extends Placement {
  /** The end is exclusive. `total`: the size that the person expects in the end, if known. */
  readonly range: { readonly start: number; readonly end: number; readonly total: number | undefined };
  /** As many bytes as the range has. Throws if they are cut off: then nothing changes. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** The version whose bytes are replaced. `file`: undefined if it is not on this disk. */
interface Patched {
  readonly operation: Operation;
  readonly size: number;
  readonly file: CopiedFile | undefined;
}

/**
 * Replaces bytes of a file in the folder. The bytes go into a copy in staging, which becomes the next version all at once. A file that is on
 * other members only is fetched first. Rejects with the error of `chunks`.
 */
export async function patchFile(parts: AccessParts, request: PatchRequest): Promise<Done | Refused> {
  const { path, range } = request;
  const known =
    pausedRefusal(parts) ??
    (await entryRefusal(parts, { path, isDirectory: false, size: range.end - range.start })) ??
    (await patched(parts, request));
  if ('done' in known) return known;
  if (parts.context.self.onDemand !== true) return patchHere(parts, request, known);
  const held = await parts.onDemand.hold(path);
  if ('reason' in held) {
    return refused(held.code === 'disk-full' ? 'disk-full' : 'content-unavailable', held.reason);
  }
  try {
    const here = await patched(parts, request);
    return 'done' in here ? here : await patchHere(parts, request, here);
  } finally {
    held.release();
  }
}

/** The version that the request means, or why its bytes cannot be replaced. */
function patched(parts: AccessParts, request: PatchRequest): Promise<Patched | Refused> {
  return changeSettled(parts, [request.path], (placeAt) => patchable(request, placeAt));
}

async function patchable(request: PatchRequest, placeAt: PlaceAt): Promise<Patched | Refused> {
  const { path, range } = request;
  const place = await placeAt(path);
  if ('done' in place) return place;
  if (place.current.operation === undefined) {
    return refused('no-entry', `There is nothing at ${path}: it was deleted or renamed.`);
  }
  const free = await freePlace(request, async () => place);
  if ('done' in free) return free;
  const { operation } = place.current;
  const { content, blocks, size = 0, target } = operation;
  if (content === undefined) {
    return refused('not-written', `${path} is a symbolic link to ${target}: it is not followed.`, operation);
  }
  if (range.start > size) {
    const reason = `${path} has ${size} bytes: what is written must begin in it or at its end, at byte ${size}.`;
    return refused('range-invalid', reason, operation);
  }
  if (range.total !== undefined && range.total < size) {
    const reason = `${path} has ${size} bytes, more than the ${range.total} of Content-Range: no file is shortened so.`;
    return refused('range-invalid', reason, operation);
  }
  const isHere = 'fingerprint' in place.current;
  const file = isHere ? { path, fingerprint: place.current.fingerprint, content, blocks, size } : undefined;
  return { operation, size, file };
}

async function patchHere(
  parts: AccessParts,
  request: PatchRequest,
  { operation, size, file }: Patched,
): Promise<Done | Refused> {
  const { path, range } = request;
  if (file === undefined) {
    return refused('not-written', `${path} was removed from this disk in this moment: try again in a moment.`);
  }
  // The old version counts as used until the new one takes its place.
  const room = await parts.cache.reserve(path, Math.max(0, range.end - size));
  if ('reason' in room) return refused('disk-full', room.reason);
  const draft = parts.context.folder.draft();
  try {
    const content = await fill(parts, request, { draft, file });
    if ('done' in content) {
      const now = content.isUnjournaled === true ? await patched(parts, request) : content;
      return 'done' in now ? now : content;
    }
    // The draft is a copy of this version: in place of another one it would undo the changes of that one, even if the request allows any
    // version.
    const condition = { is: 'versions', versions: new Set([dotKey(operation)]) } as const;
    return await placeDraft(parts, { path, condition }, draft, content);
  } finally {
    room.end();
    await draft.drop();
  }
}

/** Writes the bytes into a copy of the file. Only the blocks in which they begin and end are read. */
async function fill(
  { context }: AccessParts,
  { path, range: { start }, chunks }: PatchRequest,
  { draft, file }: { readonly draft: Draft; readonly file: CopiedFile },
): Promise<DraftContent | Refused> {
  const { content, blocks, size, fingerprint } = file;
  if (size === 0) return fillDraft(draft, chunks, path);
  const failure = fillFailure(await draft.copy(file), path);
  if (failure !== undefined) return failure;
  const source = { from: 'file', path, fingerprint } as const;
  const block = async (index: number): Promise<Uint8Array | Refused> => {
    if (index >= blockCount(size)) return new Uint8Array();
    const bytes = await context.folder.readBlock({ content, blocks, size, index, source });
    return bytes ?? changedFile(path);
  };
  return fillDraft(draft, chunks, path, { start, block });
}
