import { isSameFingerprint, isSameWriting } from '../../core/entry.ts';
import type { Context } from '../state/context.ts';
import { writeIfRoom } from '../state/disk-room.ts';

/**
 * Records the change times of files whose name in staging was removed when the folder was opened. With their former ones, bytes that the
 * disk has damaged since would be taken for a user's edit [MT21].
 */
export function recordReleased({ folder, journal }: Pick<Context, 'folder' | 'journal'>): void {
  const changes = folder.released.flatMap(({ before, after }) => {
    // A user changed it at this moment.
    if (!isSameWriting(before, after) || before.mode !== after.mode) return [];
    return journal.disk.withInode(before.ino).flatMap(({ path, ...entry }) => {
      const isRecorded = entry.fingerprint !== undefined && isSameFingerprint(entry.fingerprint, before);
      return isRecorded ? [{ path, entry: { ...entry, fingerprint: after } }] : [];
    });
  });
  if (changes.length > 0) writeIfRoom(() => journal.disk.record(changes));
}
