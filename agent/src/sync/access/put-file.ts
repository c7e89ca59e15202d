import { type AccessParts, type Done, entryRefusal, pausedRefusal } from './access-parts.ts';
import { type Refused, refused } from './condition.ts';
import { fillDraft } from './fill-draft.ts';
import { changeSettled } from './place.ts';
import { freePlace, type Placement, pathsOf, placeDraft } from './place-draft.ts';

/** A file that a person puts into the folder. */
export interface PutRequest extends Placement {
  /** Its bytes, as far as they are known in advance. */
  readonly size: number | undefined;
  /** Throws if they are cut off: then no file is written. */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * Puts a file into the folder, with the directories that are missing above it. The bytes go to staging as they come, and are in the folder
 * all at once: until then nothing is visible. The result is journaled as a user's change, and a replaced file goes to history. Rejects with
 * the error of `chunks`.
 */
export async function putFile(parts: AccessParts, request: PutRequest): Promise<Done | Refused> {
  const { path, size = 0, chunks } = request;
  const early =
    pausedRefusal(parts) ??
    (await entryRefusal(parts, { path, isDirectory: false, size })) ??
    (await changeSettled(parts, pathsOf(request), (placeAt) => freePlace(request, placeAt)));
  if ('done' in early) return early;
  const room = await parts.cache.reserve(path, size);
  if ('reason' in room) return refused('disk-full', room.reason);
  const reserved = [room];
  const draft = parts.context.folder.draft();
  try {
    const content = await fillDraft(draft, chunks, path);
    if ('done' in content) return content;
    // Its size was not known in advance.
    const more = request.size === undefined ? await parts.cache.reserve(path, content.size) : undefined;
    if (more !== undefined) {
      if ('reason' in more) return refused('disk-full', more.reason);
      reserved.push(more);
    }
    return await placeDraft(parts, request, draft, content);
  } finally {
    for (const each of reserved) each.end();
    await draft.drop();
  }
}
