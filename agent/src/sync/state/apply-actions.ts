import { isSameFingerprint, isSameWriting, mayBeSameInode } from '../../core/entry.ts';
import type { ActionRequest, ActionResult, ReleasedFile } from '../ports/folder.ts';
import type { Context } from './context.ts';
import { writeIfRoom } from './disk-room.ts';

/**
 * Executes actions in the folder, as `Folder.apply` does, and records the files that failed ones released. Call it under the folder lock:
 * no other code calls `Folder.apply`.
 */
export async function applyActions(
  { folder, journal }: Pick<Context, 'folder' | 'journal'>,
  requests: readonly ActionRequest[],
): Promise<readonly ActionResult[]> {
  const results = await folder.apply(requests);
  recordReleased(
    { journal },
    results.flatMap((result) => ('released' in result && result.released ? [result.released] : [])),
  );
  return results;
}

/**
 * Records the change times of files that lost a name in `.lockstep`. With their former ones, bytes that the disk has damaged since would be
 * taken for a user's edit [MT21]. Call it under the folder lock.
 */
export function recordReleased({ journal }: Pick<Context, 'journal'>, released: readonly ReleasedFile[]): void {
  const changes = released.flatMap(({ before, after }) => {
    // A user changed or replaced it at this moment.
    if (!mayBeSameInode(before, after) || !isSameWriting(before, after) || before.mode !== after.mode) return [];
    return journal.disk.withInode(before.ino).flatMap(({ path, ...entry }) => {
      const isRecorded = entry.fingerprint !== undefined && isSameFingerprint(entry.fingerprint, before);
      return isRecorded ? [{ path, entry: { ...entry, fingerprint: after } }] : [];
    });
  });
  if (changes.length > 0) writeIfRoom(() => journal.disk.record(changes));
}
